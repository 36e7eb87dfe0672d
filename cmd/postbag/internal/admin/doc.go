// Package admin is the relay's listener for the machines that look after it:
// /healthz (alive), /readyz (working) and /metrics (Prometheus). It is off unless
// an address is given, and says nothing of a message: labels are boxes and
// subscriptions.
package admin
