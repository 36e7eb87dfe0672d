package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/postbag/postbag/broker"
)

// reference is the page of this package.
func reference(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/reference/webhook.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// python runs the reference's receiver over a request that it gets as JSON.
const python = `
import json, sys
request = json.load(sys.stdin)
body = base64.b64decode(request["Body"])
headers = {name.lower(): value for name, value in request["Header"].items()}
verify(request["Secret"], headers, body)
forged = 0
for change in [{"webhook-id": "x"}, {"webhook-timestamp": "1"}, {"webhook-signature": "v1,AAAA"}]:
    try:
        verify(request["Secret"], headers | change, body)
    except ValueError:
        forged += 1
key, topic, kind = (unquote(headers.get("postbag-" + fact, "")) for fact in ("key", "topic", "type"))
json.dump({"Forged": forged, "Key": key, "Topic": topic, "Type": kind, "Headers": message_headers(headers)}, sys.stdout)
`

func TestThePythonReceiverOfTheReferencePageWorks(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("python3 is not installed; install it")
		}
		t.Skip("python3 is not installed; install it to test the reference's receiver")
	}
	_, after, _ := strings.Cut(reference(t), "```python\n")
	source, _, ok := strings.Cut(after, "```")
	if !ok {
		t.Fatal("the reference has no example in Python")
	}
	m := sample()
	m.Payload = append([]byte("\x00\xff"), m.Payload...)
	m.Headers["a=b,c%d "] = "=,% \r\n🙂"
	m.Headers["empty"] = ""
	for name, secrets := range map[string][]string{"one secret": {secretA}, "two secrets": {secretB, secretA}} {
		input, err := json.Marshal(struct {
			Secret string
			Header map[string]string
			Body   []byte
		}{secretA, captured(t, secrets, m), m.Payload})
		if err != nil {
			t.Fatal(err)
		}
		run := exec.CommandContext(t.Context(), program, "-c", source+python)
		run.Stdin = bytes.NewReader(input)
		output, err := run.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, output)
		}
		var got struct {
			Forged           int
			Key, Topic, Type string
			Headers          map[string]string
		}
		if err := json.Unmarshal(output, &got); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, output)
		}
		if got.Forged != 3 || got.Key != m.Key || got.Topic != m.Topic || got.Type != m.Type || fmt.Sprint(got.Headers) != fmt.Sprint(m.Headers) {
			t.Errorf("%s: got %+v, want %+v", name, got, m.Message)
		}
	}
}

// captured publishes m and returns the headers that arrived.
func captured(t *testing.T, secrets []string, m broker.Delivery) map[string]string {
	t.Helper()
	headers := map[string]string{}
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		for name, values := range r.Header {
			headers[name] = strings.Join(values, ", ")
		}
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	t.Cleanup(s.Close)
	o := options(s.URL)
	o.Secrets = secrets
	want(t, publish(t.Context(), open(t, o), m), broker.Accepted)
	return headers
}

// The table of answers in the reference is that of StatusOutcome.
func TestTheStatusTableOfTheReferencePageIsTrue(t *testing.T) {
	t.Parallel()
	said := map[int]broker.Outcome{}
	row := regexp.MustCompile(`(?m)^\| ([^|]*\d[^|]*) \| (accepted|rejected|misconfigured|unavailable) \|`)
	for _, m := range row.FindAllStringSubmatch(reference(t), -1) {
		for outcome := broker.Unknown; outcome <= broker.NotSent; outcome++ {
			if outcome.String() == m[2] {
				spread(t, m[1], func(status int) { said[status] = outcome })
			}
		}
	}
	for status := 100; status < 600; status++ {
		outcome, named := said[status]
		if !named && status >= 400 {
			outcome = broker.Rejected // "any 4xx not named here"
		} else if !named {
			outcome = broker.Misconfigured // of 1xx only 101 can be an answer
		}
		if got := StatusOutcome(status); got != outcome {
			t.Errorf("%d is %v, the reference says %v", status, got, outcome)
		}
	}
}

// spread calls each for the codes of text such as "101, 3xx, 401 to 407 and ...".
func spread(t *testing.T, text string, each func(int)) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(\d)xx|(\d{3})(?: to (\d{3}))?`).FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			if hundreds, _ := strconv.Atoi(m[1]); hundreds != 4 {
				for status := range 100 {
					each(hundreds*100 + status)
				}
			}
			continue
		}
		from, _ := strconv.Atoi(m[2])
		to := from
		if m[3] != "" {
			to, _ = strconv.Atoi(m[3])
		}
		for ; from <= to; from++ {
			each(from)
		}
	}
}
