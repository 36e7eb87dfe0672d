package main

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/postbag/postbag/broker/kafkabroker"
	"github.com/postbag/postbag/broker/mqttbroker"
	"github.com/postbag/postbag/broker/natsbroker"
	"github.com/postbag/postbag/broker/rabbitbroker"
	"github.com/postbag/postbag/broker/redisbroker"
	"github.com/postbag/postbag/broker/webhook"
	"github.com/postbag/postbag/cmd/postbag/internal/component"
	"github.com/postbag/postbag/cmd/postbag/internal/config"
	"github.com/postbag/postbag/cmd/postbag/internal/terminal"
)

// An endpoint that answers and then sends back what it got: net/http prints that with the standard logger. Not in parallel, since
// that logger is the process's.
func TestWhatAnEndpointSendsBackIsNotLogged(t *testing.T) { //nolint:paralleltest // see above
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go sendBack(conn)
		}
	}()
	at := emptyFile(t)
	config := hookConfig(t, at, "http://"+listener.Addr().String())
	cli(t, "migrate", "up", at.flag, at.where, "--box", "outbox").ok()
	r := start(t, "relay", "-c", config)
	cli(t, "publish", at.flag, at.where, "--key", canary, "--payload", canary).ok()
	await(t, "the library's line is in the log", func() bool { return strings.Contains(r.err.String(), "a library says something") })
	if log := r.err.String(); !strings.Contains(log, "Unsolicited response") || strings.Contains(log, "POST /") {
		t.Errorf("the log is %s", log)
	}
}

// sendBack accepts what comes, and then sends it back.
func sendBack(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	all := make([]byte, 1<<16)
	n, err := conn.Read(all)
	if err != nil || n == 0 {
		return
	}
	answer := "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	_, _ = io.WriteString(conn, answer+string(all[:n]))
	_, _ = io.Copy(io.Discard, conn)
}

// What an adapter calls a field of its options is a setting to those who read the daemon's log.
func TestTheLogNamesSettingsAndNoFieldsOfGo(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	c := &terminal.Terminal{Err: &out, Words: component.Kinds().InSettings}
	logger := newLogger(c, config.Log{Level: "info"})
	logger.Warn("relay: a topic does not take messages; they are held, others go on", "error", errors.New("kafkabroker: there is no topic; create it, or set Options.Create"))
	if got := out.String(); !strings.Contains(got, "or set create") || strings.Contains(got, "Options.") {
		t.Errorf("the log says %s", got)
	}
}

// An adapter's error that names a field of its options can be said in settings, wherever there is one: what is left is for
// programs alone.
func TestErrorsOfAdaptersNameSettings(t *testing.T) {
	t.Parallel()
	onlyInGo := []string{
		"Options.Topic", "Options.TopicOf", "Options.Now",
		"Options.Subject", "Options.MaxBytes", "Options.Login", "Options.Login.TLS", "Options.URLFor", "Options.Header", "Options.MaxRetryAfter", "Options.Proxy",
		"SourceOptions.Unsigned", "SourceOptions.ReadTimeout", "SourceOptions.JetStream", "SourceOptions.Client",
	}
	field := regexp.MustCompile(`\b(?:Source|Stream)?Options\.[A-Z]\w*(?:\.[A-Z]\w*)*`)
	left := make(map[string]string)
	for _, kind := range []string{"kafkabroker", "natsbroker", "rabbitbroker", "redisbroker", "mqttbroker", "webhook", "stdout"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "broker", kind, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has %d files: %v", kind, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(source)) {
				if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "//") || !strings.Contains(line, `"`) {
					continue
				}
				for _, found := range field.FindAllString(component.Kinds().InSettings(line), -1) {
					if !slices.Contains(onlyInGo, found) {
						left[found] = filepath.Base(file)
					}
				}
			}
		}
	}
	for name, file := range left {
		t.Errorf("%s speaks of %s, which no setting is named like", file, name)
	}
}

// Errors of sources make the names of options from parts, so each field is looked at and not their text alone.
func TestEachOptionOfASourceIsNamedAsItsSetting(t *testing.T) {
	t.Parallel()
	onlyInGo := map[string][]string{
		"natsbroker.SourceOptions": {"JetStream"}, "redisbroker.SourceOptions": {"Client", "OnFault"}, "mqttbroker.SourceOptions": {"OnFault"},
		"rabbitbroker.StreamOptions": {"Positions"}, "webhook.SourceOptions": {"Unsigned", "ReadTimeout", "RetryAfter", "OnFault"},
	}
	for _, options := range []reflect.Type{
		reflect.TypeFor[kafkabroker.SourceOptions](), reflect.TypeFor[rabbitbroker.SourceOptions](), reflect.TypeFor[rabbitbroker.StreamOptions](),
		reflect.TypeFor[natsbroker.SourceOptions](), reflect.TypeFor[redisbroker.SourceOptions](), reflect.TypeFor[mqttbroker.SourceOptions](),
		reflect.TypeFor[webhook.SourceOptions](),
	} {
		for f := range options.Fields() {
			if !f.IsExported() {
				continue
			}
			said := component.Kinds().InSettings("it fails; change " + options.Name() + "." + f.Name)
			if inGo := strings.Contains(said, "Options."); inGo != slices.Contains(onlyInGo[options.String()], f.Name) {
				t.Errorf("of %s.%s the log says: %s", options, f.Name, said)
			}
		}
	}
}
