package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// found lists messages and returns the last digits of their ids, in order.
func found(t *testing.T, at *place, filters ...string) string {
	t.Helper()
	args := append([]string{"messages", "list", at.flag, at.where, "--json", "--oldest"}, filters...)
	var ids []string
	for _, item := range cli(t, args...).ok().items() {
		id := item.ID.String()
		ids = append(ids, id[len(id)-1:])
	}
	return strings.Join(ids, "")
}

// A variable of the shell that is not set must not turn a filter into "everything".
func TestAFlagWithAnEmptyTextIsRefused(t *testing.T) {
	t.Parallel()
	at := emptyFile(t)
	cli(t, "migrate", "up", at.flag, at.where, "--box", "orders").ok()
	cli(t, "publish", at.flag, at.where, "--topic", "", "--payload", "1").ends(exit.Usage, "--topic is empty")
	for _, flag := range []string{"topic", "key", "type", "id", "after", "error", "state", "subscription", "box"} {
		cli(t, "messages", "discard", at.flag, at.where, "--"+flag+"=", "--all", "--yes", "--why", "test").ends(exit.Usage, "--"+flag+" is empty")
	}
	cli(t, "publish", at.flag, at.where, "--box", "orders", "--payload", "").ok()
}

func TestMessagesAreFoundByEveryFilter(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		config := hookConfig(t, at, startHook(t, "order.bad").url)
		cli(t, "migrate", "up", at.flag, at.where, "--box", "orders").ok()
		id := func(n int) string { return fmt.Sprintf("01900000-0000-7000-8000-%012d", n) }
		cliWith(t, fmt.Sprintf(`{"id":%q,"key":"a","type":"order.bad","payload":1}
{"id":%q,"key":"a","type":"order.good","payload":2}
{"id":%q,"key":"b","type":"orderly","topic":"other","payload":3}
{"id":%q,"key":"c","type":"order.good.very","payload":4,"not_before":"2100-01-01T00:00:00Z"}
`, id(1), id(2), id(3), id(4)), "publish", at.flag, at.where, "--ndjson").ok()
		cli(t, "relay", "-c", config, "--drain").ok()
		cli(t, "relay", at.flag, at.where, "--to", "stdout:", "--drain", "--subscription", "second", "--from", "first", "--types", "order.*").ok()
		for filters, want := range map[string]string{
			"--subscription default":                                      "123",
			"--subscription second":                                       "123",
			"--id " + id(2):                                               "22",
			"--id " + id(9):                                               "",
			"--state dead":                                                "1",
			"--state blocked":                                             "2",
			"--state retrying":                                            "",
			"--state in-flight":                                           "",
			"--state pending":                                             "",
			"--state discarded":                                           "",
			"--state filtered":                                            "3",
			"--state delivered --subscription default":                    "3",
			"--state delivered --subscription second":                     "12",
			"--state scheduled":                                           "4",
			"--topic other --subscription default":                        "3",
			"--topic nowhere":                                             "",
			"--key a --subscription default":                              "12",
			"--key a --state dead":                                        "1",
			"--type order.good --subscription default":                    "2",
			"--type order.* --subscription default":                       "12",
			"--type order.* --state scheduled":                            "4",
			"--type order.bad --type orderly --subscription default":      "13",
			"--type order.good --type order.bad --type x --state dead":    "1",
			"--type nothing --type order.good.* --subscription default":   "",
			"--type orderly --type order.* --key b --subscription second": "3",
			"--after 1h --subscription default":                           "123",
			"--before 1h --subscription default":                          "",
			"--after 2001-01-01 --before 2100-01-01 --key b":              "33",
			"--error UNPROCESSABLE":                                       "1",
			"--error nonsense":                                            "",
			"--box orders":                                                "",
			"--subscription default --limit 2":                            "12",
			"--subscription default --key a --type order.* --state blocked --topic outbox --after 1d": "2",
		} {
			got := []byte(found(t, at, strings.Fields(filters)...))
			slices.Sort(got)
			if string(got) != want {
				t.Errorf("with %s come %q, want %q", filters, got, want)
			}
		}
		var v operations.Status
		cli(t, "status", at.flag, at.where, "--box", "outbox", "--json").ok().json(&v)
		for _, s := range v.Boxes[0].Subscriptions {
			if unfinished := s.Parked["dead"]+s.Parked["blocked"] > 0; unfinished != (s.Oldest > 0) {
				t.Errorf("the oldest message of %s is %v s old, with parked %v", s.Name, s.Oldest, s.Parked)
			}
		}
	})
}

func TestRelayNeedsNoFileToDeliverToNATS(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, at *place) {
		server := servertest.NATS(t, testserver.NATSOptions{})
		s := stream(t, server.URL())
		args := []string{"relay", at.flag, at.where, "--to", server.URL(), "--stream", "ORDERS", "--drain", "--box", "sales", "--create"}
		cli(t, args[:len(args)-1]...).ends(exit.NotFound, "no such box")
		cli(t, args...).ok().says("begins to deliver", "sales/default", "shut down gracefully")
		const n = 500
		cliWith(t, strings.Repeat(`{"topic":"orders.placed","key":"k","payload":1}`+"\n", n), "publish", at.flag, at.where, "--box", "sales", "--ndjson").ok()
		cli(t, args...).ok()
		if info, err := s.Info(t.Context()); err != nil || info.State.Msgs != n {
			t.Errorf("the stream holds %+v (%v), want %d messages", info, err, n)
		}
	})
}
