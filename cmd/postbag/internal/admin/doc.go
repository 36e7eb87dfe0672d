// Package admin is the relay's listener for the machines that look after it:
// /healthz (alive), /readyz (working), /metrics (Prometheus) and /wake (look for new
// messages now). It is off unless an address is given, and says nothing of a message:
// labels are boxes and subscriptions.
package admin
