// Package pagetest reads pages as a browser does, for tests of the console: it follows every link, and says what a page must not have.
package pagetest
