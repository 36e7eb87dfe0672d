package remote

import (
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/postbag/postbag/console"
)

// get asks for what is at a path of the API.
func (c *Client) get(ctx context.Context, into any, query url.Values, path ...string) error {
	for try := 1; ; try++ {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.at(query, path), http.NoBody)
		if err != nil {
			return err
		}
		wait, err := c.ask(r, into)
		if err == nil || wait == 0 || try == mostTries {
			return err
		}
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// post gives a command. It is sent once: nobody knows whether one that had no answer was carried out.
func (c *Client) post(ctx context.Context, into any, form url.Values, path ...string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.at(nil, path), strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	_, err = c.ask(r, into)
	return err
}

// at is the address of a path of the API.
func (c *Client) at(query url.Values, path []string) string {
	u := *c.base
	escaped := make([]string, len(path))
	for i, part := range path {
		escaped[i] = url.PathEscape(part)
	}
	u.RawPath = u.EscapedPath() + "api/v1/" + strings.Join(escaped, "/")
	u.Path += "api/v1/" + strings.Join(path, "/")
	u.RawQuery = query.Encode()
	return u.String()
}

// of is a path below the database.
func (c *Client) of(path ...string) []string {
	return append([]string{"databases", c.database}, path...)
}

// ofBox is a path below a box, or below the database if none is named.
func (c *Client) ofBox(box string, path ...string) []string {
	if box == "" {
		return c.of(path...)
	}
	return c.of(append([]string{"boxes", box}, path...)...)
}

// ask sends a request and reads the answer. Wait is after how long the console may have a place; zero: it said nothing of that.
func (c *Client) ask(r *http.Request, into any) (wait time.Duration, err error) {
	r.Header.Set("Accept", "application/json")
	r.Header.Set(console.ReadFromHeader, "primary") // as a database would answer, and not a replica that is behind
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	w, err := c.http.Do(r)
	if err != nil {
		return 0, c.unreached(r, err)
	}
	defer func() { _ = w.Body.Close() }()
	if kind, _, _ := mime.ParseMediaType(w.Header.Get("Content-Type")); kind != "application/json" {
		return 0, c.notJSON(w)
	}
	text, err := io.ReadAll(io.LimitReader(w.Body, largest+1))
	switch {
	case err != nil:
		return 0, c.unreached(r, err)
	case len(text) > largest:
		return 0, errorf("the answer of the console has more than %d bytes; ask for less, such as with --limit", largest)
	case w.StatusCode != http.StatusOK:
		return waitOf(w), c.refused(w.StatusCode, text)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return 0, c.foreign("its answer is not what a console says")
	}
	return 0, nil
}

// waitOf is how long the console says that it has no place.
func waitOf(w *http.Response) time.Duration {
	if w.StatusCode != http.StatusServiceUnavailable && w.StatusCode != http.StatusTooManyRequests {
		return 0
	}
	seconds, err := strconv.Atoi(w.Header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, longestWait)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
