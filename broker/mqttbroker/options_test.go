package mqttbroker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/broker"
	"github.com/postbag/postbag/broker/mqttbroker"
)

func TestOptionsNameAllTheirFaultsAtOnce(t *testing.T) {
	t.Parallel()
	o := mqttbroker.Options{
		Topic: "a/{who}", TopicOf: func(broker.Delivery) string { return "x" }, QoS: 3, MaxPending: 1 << 16, KeepAlive: time.Millisecond,
		Login: mqttbroker.Login{User: "a\x00b", ClientID: "\xff", Password: strings.Repeat("p", 1<<16)},
	}
	err := o.Validate()
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	for _, word := range []string{
		"Options.Topic and", "braces", "Options.QoS", "Options.MaxPending", "Options.KeepAlive", "Login.User", "Login.ClientID", "Login.Password",
	} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%s is not named in %.400q", word, err)
		}
	}
	for _, topic := range []string{"a/#", "+/x", "$SYS/{topic}", "a\x00"} {
		if (mqttbroker.Options{Topic: topic}).Validate() == nil {
			t.Errorf("the template %q passes", topic)
		}
	}
	good := mqttbroker.Options{Topic: "{box}/{topic}/{key}/{type}", QoS: 2, MaxPending: 10, KeepAlive: time.Minute, Login: mqttbroker.Login{User: "u"}}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
}

func TestURLsAreReadAndNeverQuoted(t *testing.T) {
	t.Parallel()
	for _, urls := range []string{"mqtt://host", "host:1884", "mqtts://u:p@host:8884/", "mqtt://a, mqtt://b", "mqtt://[::1]:1883"} {
		if err := mqttbroker.ValidURLs(urls); err != nil {
			t.Errorf("%s: %v", urls, err)
		}
	}
	for name, urls := range map[string]string{
		"none": "", "spaces": "mqtt://u:" + password + " @host", "another scheme": "http://u:" + password + "@host",
		"no host": "mqtt://u:" + password + "@", "no port": "mqtt://u:" + password + "@host:99999", "a path": "mqtt://u:" + password + "@host/x",
		"a user of control characters": "mqtt://%00:" + password + "@host", "an empty one": "mqtt://a,",
	} {
		_, err := mqttbroker.Dial(t.Context(), urls, mqttbroker.Options{})
		if err == nil || strings.Contains(err.Error(), password) {
			t.Errorf("%s: %v, want an error without the password", name, err)
		}
	}
}
