package remote

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/postbag/postbag/cmd/postbag/internal/exit"
	"github.com/postbag/postbag/console"
	"github.com/postbag/postbag/internal/operations"
	"github.com/postbag/postbag/store"
)

// errorf makes an error of a text.
func errorf(format string, args ...any) error { return fmt.Errorf(format, args...) }

// failure is an error with the text of the console, which is one of the errors of stores and operations.
type failure struct {
	kind error
	text string
}

func (e *failure) Error() string { return e.text }
func (e *failure) Unwrap() error { return e.kind }

// errPayloads says that payload and headers are not shown.
var errPayloads = errors.New("not shown")

// kinds are the errors that the words of failures stand for.
var kinds = map[string]error{
	console.FailureInvalid: operations.ErrInvalid, console.FailureUnsupported: operations.ErrUnsupported, console.FailureNotFound: operations.ErrNotFound,
	console.FailureBox: store.ErrNoBox, console.FailureSubscription: store.ErrNoSubscription, console.FailurePayloads: errPayloads,
}

// refused is the error of an answer with another status than 200.
func (c *Client) refused(status int, text []byte) error {
	var f console.Failure
	if err := json.Unmarshal(text, &f); err != nil || f.Error == "" {
		return c.foreign(fmt.Sprintf("it answers with status %d and no word of a console", status))
	}
	switch kind := kinds[f.Kind]; {
	case f.Kind == console.FailureCursor:
		return store.ErrCursor // as a store says it
	case kind != nil:
		return &failure{kind, f.Error}
	}
	switch status {
	case http.StatusUnauthorized:
		if c.token == "" {
			return exit.Usagef("the console asks for a login; put a token into POSTBAG_TOKEN, or into a file of --token-file; an admin makes one with postbag console token")
		}
		return exit.Usagef("the console refuses the token: %s", f.Error)
	case http.StatusForbidden:
		return exit.With(exit.Failed, errorf("the console refuses it: %s", f.Error))
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return exit.With(exit.Failed, errorf("the console has nothing at this address (%s); it is of an older version: upgrade it, or run the command where the database can be reached", f.Error))
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusTooManyRequests:
		return exit.With(exit.Unavailable, errors.New(f.Error))
	}
	return exit.With(exit.Failed, errors.New(f.Error))
}

// isBox says whether an error is about a box that is not there.
func isBox(err error) bool { return errors.Is(err, store.ErrNoBox) }

// notJSON is the error of an answer that a console does not give.
func (c *Client) notJSON(w *http.Response) error {
	if to := w.Header.Get("Location"); w.StatusCode >= 300 && w.StatusCode < 400 && to != "" {
		where := "elsewhere"
		if u, err := url.Parse(to); err == nil && u.Host != "" {
			where = u.Scheme + "://" + u.Host
		}
		return exit.With(exit.Failed, errorf("the server leads to %s, and nothing was sent there; give the console's own address with --server, past a page that logs people in", where))
	}
	if w.StatusCode == http.StatusBadGateway || w.StatusCode == http.StatusServiceUnavailable || w.StatusCode == http.StatusGatewayTimeout {
		err := errorf("a proxy before the console answers with status %d; look whether the console runs", w.StatusCode)
		if w.Request.Method == http.MethodPost {
			err = errorf("%w; %w", err, ErrMayStand)
		}
		return exit.With(exit.Unavailable, err)
	}
	return c.foreign(fmt.Sprintf("it answers with status %d and %.40q, and a console with JSON", w.StatusCode, w.Header.Get("Content-Type")))
}

// foreign is the error of a server that is no console.
func (c *Client) foreign(why string) error {
	return exit.With(exit.Failed, errorf("the server at %s is no console of Postbag, or one of another version: %s; give the address of the console's first page with --server", c.base, why))
}

// ErrMayStand is in the error of a command that went to the console, of which no answer came back.
var ErrMayStand = errors.New("the command may have been carried out; look before you give it again, such as with postbag operations list or postbag messages show")

// unreached is the error of a request without a whole answer. It quotes no address: that may have a key.
func (c *Client) unreached(r *http.Request, err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	sent := r.Method == http.MethodPost && !undialed(err)
	if ended := r.Context().Err(); ended != nil {
		if sent {
			return errorf("%w; %w", ended, ErrMayStand)
		}
		return ended
	}
	_, badCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	late, isNet := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, errElsewhere):
		return exit.Usagef("--server is http, and %s is no loopback address on this machine, so a token and the answers would go there in the open; write https://, or http://127.0.0.1 with the port", c.base.Host)
	case badCertificate || unknown:
		return exit.Usagef("the certificate of the console is not trusted: %w; name the file of the authority that signed it with --ca-file", err)
	case noTLS, errors.Is(err, http.ErrSchemeMismatch):
		return exit.Usagef("the server at %s does not speak TLS; give the address that browsers use for the console", c.base.Host)
	case sent:
		return exit.With(exit.Unavailable, errorf("the console at %s gave no whole answer: %w; %w", c.base.Host, err, ErrMayStand))
	case isNet && late.Timeout():
		return exit.With(exit.Unavailable, errorf("the console at %s did not answer in time; look whether it runs, and try again", c.base.Host))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return exit.With(exit.Unavailable, errorf("the answer of the console at %s broke off; try again", c.base.Host))
	}
	return exit.With(exit.Unavailable, errorf("the console at %s cannot be reached: %w; look whether it runs", c.base.Host, err))
}

// undialed says that there was no connection, so nothing was sent.
func undialed(err error) bool {
	op, is := errors.AsType[*net.OpError](err)
	return is && (op.Op == "dial" || op.Op == "proxyconnect")
}
