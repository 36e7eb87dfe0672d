package login

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/postbag/postbag/console"
)

const (
	// tokenPrefix begins each token, so that those who look for secrets find one, and the token of another program is not taken for one.
	tokenPrefix = "pbt_"
	// tokenBytes are random in each token.
	tokenBytes = 32
	// sumPrefix begins the hash of a token in the access file.
	sumPrefix = "$sha256$"
	// expiresPrefix begins the word that says when a token ends.
	expiresPrefix = "expires="
)

var (
	errToken       = errors.New("is no hash of a token; make a line with postbag console token")
	errTokens      = errors.New("the request has several Authorization headers; send the token alone")
	errTokenPeriod = errors.New("expires is neither a day nor a time; write expires=2027-01-31, or expires=2027-01-31T12:00:00Z")
)

// sum is what the access file keeps of a token. A token is random, so that nobody can guess it from a hash that is quick to make.
type sum [sha256.Size]byte

func sumOf(token string) sum { return sha256.Sum256([]byte(token)) }

// NewToken makes a token with 256 random bits, and its hash for the access file.
func NewToken() (token, hash string) {
	random := make([]byte, tokenBytes)
	_, _ = rand.Read(random) // it never fails
	token = tokenPrefix + base64.RawURLEncoding.EncodeToString(random)
	s := sumOf(token)
	return token, sumPrefix + base64.RawStdEncoding.EncodeToString(s[:])
}

// tokened is a line of a token.
type tokened struct {
	name    string
	rights  console.Rights
	expires time.Time // zero: never
}

// addToken adds a line of a token. Several lines may have the same name: that of a new token beside the one before it.
func (a *access) addToken(name, hash string, words []string) (err error) {
	if len(name) > longestName {
		return fmt.Errorf("the token of %.80q has a name of more than %d bytes; shorten it", name, longestName)
	}
	text, is := strings.CutPrefix(hash, sumPrefix)
	raw, err := base64.RawStdEncoding.Strict().DecodeString(text)
	if !is || err != nil || len(raw) != sha256.Size {
		return fmt.Errorf("the third word of the token of %.80q %w", name, errToken)
	}
	t := &tokened{name: name}
	if text, has := strings.CutPrefix(words[0], expiresPrefix); has {
		words = words[1:]
		if t.expires, err = moment(text); err != nil {
			return err
		}
	}
	if len(words) == 0 {
		return fmt.Errorf("the token of %.80q has no grant; write viewer, or another role", name)
	}
	if a.tokens[sum(raw)] != nil {
		return fmt.Errorf("the token of %.80q stands twice; leave one line", name)
	}
	t.rights, err = parseGrants(words)
	a.tokens[sum(raw)] = t
	return err
}

// moment reads when a token ends.
func moment(text string) (time.Time, error) {
	for _, form := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(form, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, errTokenPeriod
}

// bearer returns the token of a request; empty: it has none of ours.
func bearer(r *http.Request) (string, error) {
	all := r.Header.Values("Authorization")
	for _, one := range all {
		kind, token, _ := strings.Cut(strings.TrimSpace(one), " ")
		if token = strings.TrimSpace(token); strings.EqualFold(kind, "Bearer") && strings.HasPrefix(token, tokenPrefix) {
			if len(all) > 1 {
				return "", errTokens
			}
			return token, nil
		}
	}
	return "", nil
}

// withToken returns whose token it is, with the rights of its line; nil: the file does not have it any more, or it is over.
func (a *Access) withToken(token string, now time.Time) *console.User {
	t := a.current().tokens[sumOf(token)]
	if t == nil || !t.expires.IsZero() && !now.Before(t.expires) {
		return nil
	}
	return someone(t.name, t.rights, false)
}

// refuseToken answers a request with a token that lets nobody in. Those that are refused are limited, so that they do not fill the log.
func (l *Login) refuseToken(w http.ResponseWriter, r *http.Request) {
	from := l.client(r)
	if !l.tokens.take(limitedAddress(from)) {
		w.Header().Set("Retry-After", "6")
		refuse(w, http.StatusTooManyRequests, "too many wrong tokens; wait a minute, then try again with one of the access file")
		return
	}
	l.o.Logger.Warn("the console refused a token: the access file does not have it, or it is over", "from", from.String())
	w.Header().Set("WWW-Authenticate", `Bearer realm="postbag"`)
	refuse(w, http.StatusUnauthorized, "the token is wrong or over; ask an admin for one, which postbag console token makes")
}
