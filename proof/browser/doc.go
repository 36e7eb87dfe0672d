// Package browser tests the pages of the console in a real browser: Chromium without a window, over a real relay, database and NATS
// server. The tests leave pictures of every page in tmp/browser of the checkout. With -pictures, one of them writes the pictures of the
// guide; "make screenshots" does so.
package browser
