package main

import (
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
)

func TestMetricsAreServedWithoutARelay(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
		cli(t, "relay", at.flag, at.where, "--to", "stdout:", "--drain").ok() // it makes the subscription
		cliWith(t, "hello", "publish", at.flag, at.where, "--topic", "greetings").ok()
		for name, args := range map[string][]string{
			"by flags": {"metrics", at.flag, at.where, "--admin", "0"},
			"by file":  {"metrics", "-c", write(t, "postbag.yaml", "store: "+at.yaml+"\ndestinations: {out: {stdout: {}}}\nadmin: {listen: \"0\"}\n")},
		} {
			served := start(t, args...)
			address := adminAddress(t, served)
			_, body := fetch(t, "http://"+address+"/metrics")
			for _, want := range []string{
				"postbag_store_up 1", `postbag_backlog{box="outbox",subscription="default"} 1`, "postbag_store_relays 0",
				`postbag_store_delivered_messages_total{box="outbox",subscription="default"} 0`, `postbag_parked{box="outbox",state="dead",subscription="default"} 0`,
			} {
				if !strings.Contains(body, want+"\n") {
					t.Errorf("%s: /metrics has no line %s:\n%s", name, want, body)
				}
			}
			if strings.Contains(body, "postbag_relay_ready") {
				t.Errorf("%s: it speaks of a relay that does not run", name)
			}
			response, err := http.Post("http://"+address+"/wake", "", nil)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode != http.StatusNotFound {
				t.Errorf("%s: /wake is %d where no relay runs", name, response.StatusCode)
			}
			http.DefaultClient.CloseIdleConnections()
			if code := served.end(); code != exit.OK {
				t.Errorf("%s: it ended with %d", name, code)
			}
		}
	})
}

func TestMetricsArePrintedOnce(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	cli(t, "metrics", at.flag, at.where, "--once").ok().says("# TYPE postbag_store_up gauge\npostbag_store_up 1\n", `postbag_log_last_seq{box="outbox"} 0`)
	var shown []metric
	if err := json.Unmarshal([]byte(cli(t, "metrics", at.flag, at.where, "--once", "--json").ok().out), &shown); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, m := range shown {
		found = found || m.Name == "postbag_store_up" && m.Value == 1 && len(m.Labels) == 0
	}
	if !found {
		t.Errorf("it prints %+v", shown)
	}
}

func TestMetricsSayWhatIsMissing(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "metrics", at.flag, at.where).ends(exit.Usage, "there is no address to serve metrics at; pass --admin ADDRESS")
	cli(t, "metrics", at.flag, at.where, "--admin", "x").ends(exit.Usage, "--admin is no address to listen on")
	cli(t, "metrics", at.flag, at.where, "--admin", "0", "--once").ends(exit.Usage, "--once and --admin are both given")
	cli(t, "metrics", at.flag, at.where, "--admin", "0", "--every", "10ms").ends(exit.Usage, "--every is 10ms; choose between 1s and 1h")
	cli(t, "metrics", "--admin", "0").ends(exit.Usage, "no store is given")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	cli(t, "metrics", at.flag, at.where, "--admin", taken.Addr().String()).ends(exit.Failed, "cannot listen")
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	away := "postgres://app@" + gone.Addr().String() + "/shop?sslmode=disable&connect_timeout=2"
	_ = gone.Close()
	if r := cli(t, "metrics", "--store", away, "--once"); r.code == exit.OK || r.out != "" {
		t.Errorf("without a store it ends with %d and prints %q", r.code, r.out)
	}
}
