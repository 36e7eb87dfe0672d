// Package admin is the relay's HTTP listener for probes and monitoring: /healthz (alive),
// /readyz (working), /metrics (Prometheus) and /wake (look for new messages now). It is
// off unless an address is given. It shows nothing of a message: labels are boxes and
// subscriptions. It also serves the console that it is given, below /console/: who sees what there
// is the console's to say.
package admin
