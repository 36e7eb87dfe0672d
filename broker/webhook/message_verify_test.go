package webhook

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	vectorID      = "msg_p5jXN8AQM9LWM0D4loKWxJek"
	vectorTime    = 1614265330
	vectorBody    = `{"test": 2432232314}`
	vectorV1      = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	someoneElses  = "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc="
	anotherScheme = "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg=="
)

func vectorHeader() http.Header {
	h := http.Header{}
	h.Set(HeaderWebhookID, vectorID)
	h.Set(HeaderWebhookTimestamp, strconv.Itoa(vectorTime))
	h.Set(HeaderWebhookSignature, vectorV1)
	return h
}

func TestVerify(t *testing.T) {
	t.Parallel()
	set := func(name, value string) func(http.Header) { return func(h http.Header) { h.Set(name, value) } }
	remove := func(name string) func(http.Header) { return func(h http.Header) { h.Del(name) } }
	again := func(name string) func(http.Header) { return func(h http.Header) { h.Add(name, h.Get(name)) } }
	cases := []struct {
		name   string
		change func(http.Header)
		at     int64 // seconds after the timestamp
		body   string
		want   error
	}{
		{name: "the shared example"},
		{name: "as old as may be", at: 300},
		{name: "too old", at: 301, want: ErrTimestamp},
		{name: "as new as may be", at: -300},
		{name: "too new", at: -301, want: ErrTimestamp},
		{name: "another body", body: vectorBody + " ", want: ErrSignature},
		{name: "no id", change: remove("webhook-id"), want: ErrMalformed},
		{name: "no timestamp", change: remove("webhook-timestamp"), want: ErrMalformed},
		{name: "no signature", change: remove("webhook-signature"), want: ErrMalformed},
		{name: "an empty signature", change: set("webhook-signature", ""), want: ErrMalformed},
		{name: "two ids", change: again("webhook-id"), want: ErrMalformed},
		{name: "two timestamps", change: again("webhook-timestamp"), want: ErrMalformed},
		{name: "two lines of signatures", change: again("webhook-signature"), want: ErrMalformed},
		{name: "another id", change: set("webhook-id", "msg_x"), want: ErrSignature},
		{name: "an id that swallows the timestamp", change: set("webhook-id", vectorID+"."+"1614265330"), want: ErrSignature},
		{name: "another timestamp", change: set("webhook-timestamp", "1614265331"), want: ErrSignature},
		{name: "the same timestamp in other words", change: set("webhook-timestamp", "01614265330"), want: ErrSignature},
		{name: "a timestamp in words", change: set("webhook-timestamp", "yesterday"), want: ErrMalformed},
		{name: "a timestamp too long for a number", change: set("webhook-timestamp", strings.Repeat("9", 40)), want: ErrMalformed},
		{name: "someone else's signature", change: set("webhook-signature", someoneElses), want: ErrSignature},
		{name: "half a signature", change: set("webhook-signature", "v1,"), want: ErrSignature},
		{name: "a signature cut short", change: set("webhook-signature", vectorV1[:20]), want: ErrSignature},
		{name: "no version", change: set("webhook-signature", vectorV1[3:]), want: ErrSignature},
		{name: "the same under another version", change: set("webhook-signature", "v2"+vectorV1[2:]), want: ErrSignature},
		{name: "another scheme only", change: set("webhook-signature", anotherScheme), want: ErrSignature},
		{name: "among others", change: set("webhook-signature", strings.Join([]string{someoneElses, anotherScheme, "v2,AA==", "v1,!!", vectorV1, someoneElses}, " "))},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := vectorHeader()
			if c.change != nil {
				c.change(h)
			}
			body := vectorBody
			if c.body != "" {
				body = c.body
			}
			err := Verify([]string{secretB, secretA}, h, []byte(body), 0, time.Unix(vectorTime+c.at, 0))
			if !errors.Is(err, c.want) || (c.want == nil) != (err == nil) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "MfKQ9r8") {
				t.Errorf("the error quotes the secret: %v", err)
			}
		})
	}
}

func TestVerifyTakesEitherSecretWhileItIsChanged(t *testing.T) {
	t.Parallel()
	now := time.Unix(vectorTime, 0)
	keys, err := parseSecrets([]string{secretA, secretB})
	if err != nil {
		t.Fatal(err)
	}
	h := vectorHeader()
	h.Set(HeaderWebhookSignature, signature(keys, vectorID, strconv.Itoa(vectorTime), []byte(vectorBody)))
	for _, known := range [][]string{{secretA}, {secretB}, {secretA, secretB}, {NewSecret(), secretB}} {
		if err := Verify(known, h, []byte(vectorBody), 0, now); err != nil {
			t.Error(err)
		}
	}
	if err := Verify([]string{NewSecret()}, h, []byte(vectorBody), 0, now); !errors.Is(err, ErrSignature) {
		t.Errorf("a stranger's secret: %v", err)
	}
}

func TestVerifyRefusesTimestampsOutsideTheTolerance(t *testing.T) {
	t.Parallel()
	at := func(tolerance time.Duration, seconds int64) error {
		return Verify([]string{secretA}, vectorHeader(), []byte(vectorBody), tolerance, time.Unix(vectorTime+seconds, 0))
	}
	if err := at(time.Second, 1); err != nil {
		t.Error(err)
	}
	if err := at(time.Second, 2); !errors.Is(err, ErrTimestamp) {
		t.Error(err)
	}
	if err := at(-time.Second, 299); err != nil {
		t.Errorf("a negative tolerance is not the default: %v", err)
	}
	h := vectorHeader()
	keys, _ := parseSecrets([]string{secretA})
	for _, stamp := range []string{"-1", "-9223372036854775808", "9223372036854775807", "0"} {
		h.Set(HeaderWebhookTimestamp, stamp)
		h.Set(HeaderWebhookSignature, signature(keys, vectorID, stamp, nil))
		if err := Verify([]string{secretA}, h, nil, time.Hour, time.Unix(vectorTime, 0)); !errors.Is(err, ErrTimestamp) {
			t.Errorf("timestamp %s: %v", stamp, err)
		}
	}
}

func TestVerifyNeedsAGoodSecret(t *testing.T) {
	t.Parallel()
	for _, secrets := range [][]string{nil, {}, {""}, {secretA, "whsec_short"}} {
		err := Verify(secrets, vectorHeader(), []byte(vectorBody), 0, time.Unix(vectorTime, 0))
		if err == nil || errors.Is(err, ErrSignature) || errors.Is(err, ErrMalformed) {
			t.Errorf("%d secrets: %v", len(secrets), err)
		}
		if got := StatusOf(err); got != http.StatusInternalServerError {
			t.Errorf("the answer is %d", got)
		}
	}
}

func TestStatusOfMapsErrorsToResponseStatuses(t *testing.T) {
	t.Parallel()
	for err, status := range map[error]int{
		nil: 204, ErrSignature: 401, ErrTimestamp: 401, ErrMalformed: 400, malformed("x"): 400, ErrTooLarge: 413, errors.New("disk"): 500,
	} {
		if got := StatusOf(err); got != status {
			t.Errorf("%v is %d, want %d", err, got, status)
		}
	}
}

func FuzzVerify(f *testing.F) {
	f.Add(vectorID, strconv.Itoa(vectorTime), vectorV1, []byte(vectorBody))
	f.Add("", "", "", []byte(nil))
	f.Add("a.b", "-1", "v1, v1,= v1,AAAA", []byte("."))
	keys, err := parseSecrets([]string{secretA})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, id, stamp, signatures string, body []byte) {
		h := http.Header{"Webhook-Id": {id}, "Webhook-Timestamp": {stamp}, "Webhook-Signature": {signatures}}
		err := Verify([]string{secretA}, h, body, 0, time.Unix(vectorTime, 0))
		mine := signature(keys, id, stamp, body)
		if err == nil && !strings.Contains(signatures, strings.TrimRight(mine, "=")[:len(mine)-2]) {
			t.Errorf("%q passed, but the signature is %q", signatures, mine)
		}
		h.Set(HeaderWebhookSignature, mine)
		if err := Verify([]string{secretA}, h, body, 0, time.Unix(vectorTime, 0)); errors.Is(err, ErrSignature) {
			t.Errorf("a good signature is refused: %v", err)
		}
	})
}
