// Package daemon runs "postbag relay" in processes of their own, for tests that kill, stop and restart them.
package daemon
