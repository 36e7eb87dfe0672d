package formats_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/cloudevents/sdk-go/v2/binding"
	cehttp "github.com/cloudevents/sdk-go/v2/protocol/http"

	"github.com/postbag/postbag/broker/webhook"
)

func TestTheSDKReadsEventsOverHTTP(t *testing.T) {
	t.Parallel()
	read := make(chan binding.Message, 1)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		read <- cehttp.NewMessage(r.Header, io.NopCloser(bytes.NewReader(body)))
	}))
	t.Cleanup(s.Close)
	d, err := webhook.New(webhook.Options{
		URL: s.URL, Secrets: []string{webhook.NewSecret()}, AllowPrivate: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close(t.Context()) })
	readsBack(t, transport{dest: d, topic: "orders", read: read, undecoded: true, typeless: true})
}
