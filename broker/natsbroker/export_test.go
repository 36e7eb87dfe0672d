package natsbroker

// DeniedPublish is for tests that look at a real server's words.
var DeniedPublish = deniedPublish
