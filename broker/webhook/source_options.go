package webhook

import (
	"cmp"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/postbag/postbag/broker"
)

// Defaults of SourceOptions.
const (
	defaultAnswerWithin = 10 * time.Second
	defaultReadTimeout  = 10 * time.Second
	defaultAnotherTry   = 5 * time.Second
	defaultRequests     = 1000
	defaultMemory       = 64 << 20
	defaultTopic        = "webhook"
)

// SourceOptions say which requests a Source takes. Only Secrets are required, or Unsigned.
type SourceOptions struct {
	// Secrets are the sender's; while it changes one, both. What matches one of them is
	// taken.
	Secrets []string
	// Unsigned takes every request as it is, from anybody, and looks at neither signature
	// nor timestamp. It is for senders with another scheme, behind a handler of yours that
	// verifies it. There are no Secrets then.
	Unsigned bool
	// Tolerance is how far the timestamp may lie from this machine's clock. Defaults to
	// DefaultTolerance.
	Tolerance time.Duration
	// MaxBytes is the largest body taken, in bytes. Defaults to 8 MiB.
	MaxBytes int64
	// ContentTypes are the media types that are taken, such as "application/json". A
	// request with none of them is refused. Zero: any is taken, or none at all.
	ContentTypes []string
	// Topic finds the topic of a request. Defaults to what a Destination sent as
	// Postbag-Topic. A request in which it finds none has the topic "webhook". It must be
	// quick and safe for concurrent use, and leave the body alone. So must Key.
	Topic RequestRule
	// Key finds the key of a request, by which its message is ordered. Defaults to what a
	// Destination sent as Postbag-Key.
	Key RequestRule
	// AnswerWithin is how long a request waits for its ack, from when its body was read.
	// Then it is answered with 503, and its sender tries again. Choose it shorter than
	// senders wait. Defaults to 10 s.
	AnswerWithin time.Duration
	// ReadTimeout is how long a sender may take for the body. Defaults to 10 s.
	ReadTimeout time.Duration
	// RetryAfter is what an answer 503 tells the sender to wait. It is rounded up to
	// seconds. Defaults to 5 s.
	RetryAfter time.Duration
	// Requests is how many requests are in hand at most: read, waiting or at work. Others
	// are answered with 503 before their body is read. Defaults to 1,000.
	Requests int
	// Memory is how many bytes their bodies have together at most. A body of unknown length
	// counts as MaxBytes until it is read. Defaults to 64 MiB, or MaxBytes if that is more.
	Memory int64
	// OnFault is called for each request that is answered with 4xx. The error says why, and
	// quotes nothing of the request: ErrSignature, ErrTimestamp, ErrTooLarge, ErrMalformed,
	// or one without a name. It must return soon, and be safe for concurrent use. Optional.
	OnFault func(error)

	// now is replaced in tests.
	now func() time.Time
}

// RequestRule finds a text in a request, and returns the empty text if there is none.
type RequestRule func(r *http.Request) string

// FromHeader is the rule that takes the first value of a header, as it is. Headers are not
// signed.
func FromHeader(name string) RequestRule {
	return func(r *http.Request) string { return r.Header.Get(name) }
}

// FromPath is the rule that takes a wildcard of the pattern by which an http.ServeMux chose
// the handler: for "POST /hooks/{tenant}" FromPath("tenant"). The path is not signed.
func FromPath(name string) RequestRule {
	return func(r *http.Request) string { return r.PathValue(name) }
}

// fromRelay is the rule that takes what a Destination encoded.
func fromRelay(name string) RequestRule {
	return func(r *http.Request) string { return broker.Unescape(r.Header.Get(name)) }
}

// Validate returns every fault of the options, joined, or nil. NewSource does the same
// first.
func (o SourceOptions) Validate() error {
	_, err := o.resolve()
	return err
}

// sourceSettings are SourceOptions that were found good, with defaults filled in.
type sourceSettings struct {
	SourceOptions

	keys []key // none: unsigned
}

func (o SourceOptions) resolve() (sourceSettings, error) {
	s := sourceSettings{SourceOptions: o}
	faults := slices.Concat(s.checkSecrets(), s.checkNumbers(), s.checkTypes())
	if len(faults) > 0 {
		return sourceSettings{}, fmt.Errorf("webhook: %w", errors.Join(faults...))
	}
	s.defaults()
	if s.Memory < s.MaxBytes {
		return sourceSettings{}, fmt.Errorf("webhook: SourceOptions.Memory is %d and MaxBytes %d, so that a large body never fits; raise Memory", s.Memory, s.MaxBytes)
	}
	return s, nil
}

func (s *sourceSettings) checkSecrets() []error {
	switch {
	case s.Unsigned && len(s.Secrets) > 0:
		return []error{errors.New("both SourceOptions.Secrets and SourceOptions.Unsigned are set; keep Secrets, or take what anybody sends")}
	case s.Unsigned:
		return nil
	case len(s.Secrets) == 0:
		return []error{errors.New("there is no secret to verify with; set SourceOptions.Secrets to the sender's")}
	}
	keys, err := parseSecrets(s.Secrets)
	if err != nil {
		return []error{err}
	}
	s.keys = keys
	return nil
}

func (s *sourceSettings) checkNumbers() (faults []error) {
	for name, value := range map[string]int64{
		"Tolerance": int64(s.Tolerance), "MaxBytes": s.MaxBytes, "AnswerWithin": int64(s.AnswerWithin), "ReadTimeout": int64(s.ReadTimeout),
		"RetryAfter": int64(s.RetryAfter), "Requests": int64(s.Requests), "Memory": s.Memory,
	} {
		if value < 0 {
			faults = append(faults, fmt.Errorf("SourceOptions.%s is negative; leave it zero for the default", name))
		}
	}
	return faults
}

func (s *sourceSettings) checkTypes() (faults []error) {
	types := make([]string, len(s.ContentTypes))
	for i, one := range s.ContentTypes {
		kind, parameters, err := mime.ParseMediaType(one)
		if err != nil || len(parameters) > 0 || !strings.Contains(kind, "/") {
			faults = append(faults, fmt.Errorf("SourceOptions.ContentTypes has %q, which is no media type; write it as application/json", one))
		}
		types[i] = kind
	}
	s.ContentTypes = types
	return faults
}

func (s *sourceSettings) defaults() {
	s.Tolerance = cmp.Or(s.Tolerance, DefaultTolerance)
	s.MaxBytes = cmp.Or(s.MaxBytes, defaultMaxBytes)
	s.AnswerWithin = cmp.Or(s.AnswerWithin, defaultAnswerWithin)
	s.ReadTimeout = cmp.Or(s.ReadTimeout, defaultReadTimeout)
	s.RetryAfter = cmp.Or(s.RetryAfter, defaultAnotherTry)
	s.Requests = cmp.Or(s.Requests, defaultRequests)
	s.Memory = cmp.Or(s.Memory, max(defaultMemory, s.MaxBytes))
	if s.Topic == nil {
		s.Topic = fromRelay(HeaderTopic)
	}
	if s.Key == nil {
		s.Key = fromRelay(broker.HeaderKey)
	}
	if s.OnFault == nil {
		s.OnFault = func(error) {}
	}
	if s.now == nil {
		s.now = time.Now
	}
}
