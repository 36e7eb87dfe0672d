package testserver_test

import (
	"crypto/tls"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

func ctl(t *testing.T, r *testserver.RabbitMQ, args ...string) string {
	t.Helper()
	out, err := r.Ctl(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out)
}

func TestRabbitMQKeepsItsPortUsersAndVirtualHostsOverStopKillAndRestart(t *testing.T) {
	t.Parallel()
	slow(t)
	r := servertest.RabbitMQ(t, testserver.RabbitMQOptions{User: "admin", Password: "adminword"})
	if err := errors.Join(r.AddVHost(t.Context(), "shop"), r.AddUser(t.Context(), "app", "word"),
		r.Allow(t.Context(), "shop", "app", "^$", ".*", "^$")); err != nil {
		t.Fatal(err)
	}
	port := r.Port()
	for name, again := range map[string]func() error{
		"restart": func() error { return r.Restart(t.Context()) },
		"kill":    func() error { return errors.Join(r.Kill(t.Context()), r.Start(t.Context())) },
	} {
		if err := again(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r.Port() != port {
			t.Errorf("after %s the port is %d, it was %d", name, r.Port(), port)
		}
		if got := ctl(t, r, "list_permissions", "-p", "shop", "--no-table-headers"); !strings.Contains(got, "app\t^$\t.*\t^$") {
			t.Errorf("after %s the permissions are %q", name, got)
		}
	}
	if err := r.Start(t.Context()); err == nil {
		t.Error("a server that runs was started again")
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Error(err)
	}
}

func TestRabbitMQRaisesAndEndsTheMemoryAlarm(t *testing.T) {
	t.Parallel()
	slow(t)
	r := servertest.RabbitMQ(t, testserver.RabbitMQOptions{})
	alarms := func() string { return ctl(t, r, "eval", "rabbit_alarm:get_alarms().") }
	if err := r.Alarm(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	await(t, "the alarm", func() bool { return strings.Contains(alarms(), "memory") })
	if err := r.Alarm(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	await(t, "the end of the alarm", func() bool { return alarms() == "[]" })
}

func TestRabbitMQSpeaksTLSToThoseWhoTrustItsAuthority(t *testing.T) {
	t.Parallel()
	slow(t)
	r := servertest.RabbitMQ(t, testserver.RabbitMQOptions{TLS: true})
	u, err := url.Parse(r.URLTLS("/"))
	if err != nil {
		t.Fatal(err)
	}
	trusting, err := r.ClientTLS("app")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := tls.Dial("tcp", u.Host, trusting)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	if conn, err := tls.Dial("tcp", u.Host, &tls.Config{MinVersion: tls.VersionTLS12}); err == nil {
		_ = conn.Close()
		t.Error("a stranger trusts it")
	}
}
