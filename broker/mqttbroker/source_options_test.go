package mqttbroker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker/mqttbroker"
)

func TestSourceOptionsNameEveryFault(t *testing.T) {
	t.Parallel()
	good := mqttbroker.SourceOptions{
		URL: "mqtt://host", Login: mqttbroker.Login{ClientID: "billing-0"}, Filters: []string{"orders/+", "a/#", "#", "+", "$SYS/broker", "+/x/+", "/"},
	}
	if err := good.Validate(); err != nil {
		t.Errorf("good options: %v", err)
	}
	for name, c := range map[string]struct {
		options mqttbroker.SourceOptions
		want    []string
	}{
		"nothing": {want: []string{"URL", "SourceOptions.Login.ClientID is empty", "SourceOptions.Filters is empty"}},
		"all at once": {
			options: mqttbroker.SourceOptions{
				URL: "mqtt://u:secret-word@", Login: mqttbroker.Login{ClientID: "a\x00", User: "\xff", Password: strings.Repeat("secret-word", 1<<13)},
				Filters: []string{"a", "a"}, Group: "a/b", QoS: 3, SessionExpiry: time.Millisecond, MaxUnacked: 1 << 16, KeepAlive: time.Millisecond,
			},
			want: []string{
				"URL", "SourceOptions.Login.ClientID holds", "SourceOptions.Login.User", "SourceOptions.Login.Password", `"a" stands there twice`, `Group "a/b"`, "QoS is 3",
				"SessionExpiry is 1ms", "MaxUnacked is 65536", "KeepAlive is 1ms",
			},
		},
		"filters": {
			options: mqttbroker.SourceOptions{
				URL: "mqtt://h", Login: mqttbroker.Login{ClientID: "c"}, Group: "g",
				Filters: []string{"", "$share/g/a", "a/#/b", "a#", "a+", "b\x00", strings.Repeat("x", 65_530)},
			},
			want: []string{
				`"" is empty`, `"$share/g/a" is a shared subscription; name its group`, `"a/#/b" has a #`, `"a#" has a #`, `"a+" has a +`, "holds a control character", "is too long with SourceOptions.Group",
			},
		},
		"below and above": {
			options: mqttbroker.SourceOptions{
				URL: "mqtt://h", Login: mqttbroker.Login{ClientID: "c"}, Filters: []string{"a"}, QoS: -1, MaxUnacked: -1, SessionExpiry: 1 << 62, KeepAlive: 100 * time.Hour, Group: "+",
			},
			want: []string{"QoS is -1", "MaxUnacked is -1", "SessionExpiry is", "KeepAlive is 100h", `Group "+"`},
		},
	} {
		err := c.options.Validate()
		if err == nil {
			t.Errorf("%s: no fault", name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: no fault says %q: %.2000v", name, want, err)
			}
		}
		if strings.Contains(err.Error(), "secret-word") {
			t.Errorf("%s: a fault quotes the login", name)
		}
	}
	if _, err := mqttbroker.OpenSource(t.Context(), mqttbroker.SourceOptions{}); err == nil || !strings.Contains(err.Error(), "SourceOptions.Filters") {
		t.Errorf("OpenSource of no options: %v", err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := mqttbroker.OpenSource(over, good); !errors.Is(err, context.Canceled) {
		t.Errorf("OpenSource with a context that is over: %v", err)
	}
}
