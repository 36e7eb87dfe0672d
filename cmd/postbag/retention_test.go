package main

import (
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

func TestHowLongMessagesStayIsShownSetAndReset(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		config := write(t, "postbag.yaml", "store: "+at.yaml+"\nboxes: {outbox: {retention: {discarded: 7d, dead: P30D}}}\ndestinations: {out: {stdout: {}}}\n")
		cliWith(t, `{"key":"a","payload":1}`+"\n", "publish", "-c", config, "--ndjson").ok()
		cli(t, "retention", "show", "-c", config).ok().says("delivered 3d (default), discarded 3d (default), dead never (default)")
		cli(t, "relay", "-c", config, "--drain").ok()
		cli(t, "retention", "show", "-c", config).ok().says("delivered 3d (default), discarded 7d (deployment), dead 30d (deployment)", "said what is deployed")

		set := func(args ...string) []string {
			return append([]string{"retention", "set", "-c", config, "--why", "a full disk", "--who", "ops"}, args...)
		}
		cli(t, "retention", "set", "-c", config, "--delivered", "1h").ends(exit.Usage, "--why")
		cli(t, set()...).ends(exit.Usage, "no time is given")
		cli(t, set("--delivered", "1m")...).ends(exit.Usage, "delivered messages cannot be kept for 1m0s; the least is 10m0s")
		cli(t, set("--discarded", "36h")...).ends(exit.Usage, "cannot be kept for 36h, less than delivered ones (3d)", "the least is 3d")
		cli(t, set("--dead", "soon")...).ends(exit.Usage, "--dead", "or never")
		cli(t, set("--delivered", "2d", "--box", "other")...).ends(exit.NotFound, "no box other")
		cli(t, set("--delivered", "1h")...).ends(exit.Usage, "keep delivered messages 1h instead of 3d?", "nothing was done")
		cli(t, set("--delivered", "1h", "--dry-run")...).ok().says("before: delivered 3d, discarded 7d, dead 30d", "after:  delivered 1h, discarded 7d, dead 30d", "nothing was changed")
		cli(t, "retention", "show", "-c", config).ok().says("delivered 3d (default)")

		cli(t, set("--delivered", "1h", "--yes")...).ok().says("box outbox keeps messages so from now on")
		cli(t, set("--dead", "never")...).ok().says("after:  delivered 1h, discarded 7d, dead never")
		cli(t, "status", "-c", config).ok().says("keeps delivered 1h (operator), discarded 7d (deployment), dead never (operator)")
		cli(t, "audit", "-c", config).ok().says("ops", "set the retention of outbox: delivered 1h0m0s, discarded 168h0m0s, dead for ever; before: ", "a full disk", "deploy the retention of outbox")
		var shown struct {
			Box           string
			Delivered     float64  `json:"delivered_seconds"`
			DeliveredFrom string   `json:"delivered_from"`
			Dead          *float64 `json:"dead_seconds"`
		}
		cli(t, "retention", "show", "-c", config, "--json").ok().json(&shown)
		if shown.Box != "outbox" || shown.Delivered != 3600 || shown.DeliveredFrom != "operator" || shown.Dead != nil {
			t.Errorf("it is shown as %+v", shown)
		}
		var changed struct {
			After   map[string]string
			Changed bool
		}
		cli(t, "retention", "reset", "-c", config, "--why", "a larger disk", "--yes", "--json").ok().json(&changed)
		if !changed.Changed || changed.After["delivered"] != "3d" || changed.After["dead"] != "30d" {
			t.Errorf("a reset says %+v", changed)
		}
		cli(t, "retention", "show", "-c", config).ok().says("delivered 3d (default), discarded 7d (deployment), dead 30d (deployment)")
	})
}

func TestARetentionInAFileThatIsTooShortIsAMistake(t *testing.T) {
	t.Parallel()
	for retention, what := range map[string]string{
		"{delivered: 1m}":                "boxes.outbox.retention.delivered is 1m0s; choose between 10m0s and",
		"{delivered: 3d, discarded: 2d}": "boxes.outbox.retention.discarded is 48h0m0s, less than boxes.outbox.retention.delivered, 72h0m0s",
		"{discarded: 2h}":                "less than keep, 24h0m0s",
		"{dead: 5m}":                     "boxes.outbox.retention.dead is 5m0s; choose between 10m0s and",
		"{dead: later}":                  "boxes.outbox.retention.dead is no duration",
	} {
		config := write(t, "postbag.yaml", "store: {dsn: shop.db}\nkeep: 24h\nboxes: {outbox: {retention: "+retention+"}}\ndestinations: {out: {stdout: {}}}\n")
		cli(t, "config", "check", "-c", config).ends(exit.Usage, what)
	}
	config := write(t, "postbag.yaml", "store: {dsn: shop.db}\nboxes: {outbox: {retention: {delivered: 3d, discarded: 7d, dead: never}}}\ndestinations: {out: {stdout: {}}}\n")
	cli(t, "config", "check", "-c", config).ok()
}
