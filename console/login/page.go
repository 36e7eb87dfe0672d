package login

import (
	"bytes"
	_ "embed" // the page is in the program
	"encoding/json"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/postbag/postbag/console"
)

//go:embed login.html
var pageText string

var pageTemplate = template.Must(template.New("login").Parse(pageText))

// view is what the page shows.
type view struct {
	To, Failure         string
	Passwords, Provider bool
}

func (l *Login) page(w http.ResponseWriter, r *http.Request) {
	l.show(w, r.URL.Query().Get("to"), 0, "")
}

// show shows the page, with what went wrong.
func (l *Login) show(w http.ResponseWriter, to string, code int, failure string) {
	v := view{To: to, Failure: failure, Passwords: l.o.Access.HasPasswords(), Provider: l.o.Provider != nil}
	var page bytes.Buffer
	if err := pageTemplate.Execute(&page, v); err != nil {
		refuse(w, http.StatusInternalServerError, "the page of the login cannot be made; please report it")
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(max(code, http.StatusOK))
	_, _ = w.Write(page.Bytes()) // the one who asked has gone
}

// withPassword takes in what the page's form has.
func (l *Login) withPassword(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 8<<10)
	if err := r.ParseForm(); err != nil {
		l.show(w, "", http.StatusBadRequest, "The form could not be read. Try again.")
		return
	}
	name, password, to := r.PostForm.Get("name"), r.PostForm.Get("password"), r.PostForm.Get("to")
	from := l.client(r)
	// The address first: who is refused by it does not use up the tries of a name.
	if !l.addresses.take(limitedAddress(from)) || !l.mayTry(name) {
		l.o.Logger.Warn("the console refused a login: too many tries", "user", l.o.Access.named(name), "from", from.String())
		w.Header().Set("Retry-After", "15")
		l.show(w, to, http.StatusTooManyRequests, "Too many tries. Wait a minute, then try again.")
		return
	}
	p, free := l.fits(r, name, password)
	switch {
	case !free:
		l.show(w, to, http.StatusServiceUnavailable, "Too many people log in now. Try again in a moment.")
	case p == nil:
		l.o.Logger.Warn("the console refused a login: the name or the password is wrong", "user", l.o.Access.named(name), "from", from.String())
		l.show(w, to, http.StatusUnauthorized, "The name or the password is wrong.")
	default:
		l.open(w, r, session{name: p.name, hash: p.hash.String()}, to)
	}
}

// mayTry counts a try of a name. One that is too long is refused by fits, and counts as no name.
func (l *Login) mayTry(name string) bool {
	switch {
	case len(name) > longestName:
		return true
	case l.o.Access.knows(name):
		return l.names.take(name)
	}
	return l.strangers.take(name)
}

// fits checks a password, at most two at a time: each takes its memory. Free: there was a place within five seconds.
func (l *Login) fits(r *http.Request, name, password string) (p *person, free bool) {
	patience := time.NewTimer(5 * time.Second)
	defer patience.Stop()
	select {
	case l.working <- struct{}{}:
	case <-patience.C:
		return nil, false
	case <-r.Context().Done():
		return nil, false
	}
	defer func() { <-l.working }()
	if len(password) > longestPassword || len(name) > longestName {
		return nil, true
	}
	return l.o.Access.password(name, password), true
}

// toProvider sends the browser to the provider. It takes GET: the policy of the page lets no form lead to another site.
func (l *Login) toProvider(w http.ResponseWriter, r *http.Request) {
	to := r.URL.Query().Get("to")
	if len(to) > longestTo {
		to = ""
	}
	if !l.providers.take(limitedAddress(l.client(r))) {
		w.Header().Set("Retry-After", "6")
		l.show(w, to, http.StatusTooManyRequests, "Too many tries. Wait a minute, then try again.")
		return
	}
	id, one := l.attempts.begin(to)
	address, err := l.o.Provider.Address(r.Context(), one.Attempt)
	if err != nil {
		l.o.Logger.Error("the console cannot reach the provider of its login", "error", err)
		l.show(w, to, http.StatusBadGateway, "The login provider cannot be reached. Try again in a moment.")
		return
	}
	l.setCookie(w, l.tryingName, id, int(attemptTime.Seconds()))
	http.Redirect(w, r, address, http.StatusSeeOther)
}

// fromProvider takes in what the browser brings back.
func (l *Login) fromProvider(w http.ResponseWriter, r *http.Request) {
	var one attempt
	known := false
	if cookie, err := r.Cookie(l.tryingName); err == nil {
		one, known = l.attempts.take(cookie.Value)
	}
	l.setCookie(w, l.tryingName, "", -1)
	answer := r.URL.Query()
	if !known || answer.Get("state") != one.State {
		l.o.Logger.Warn("the console refused a login: it was not begun in this browser, took too long, or was finished before", "from", l.client(r).String())
		l.show(w, "", http.StatusBadRequest, "This login was not begun here, took too long, or is over. Try again.")
		return
	}
	who, err := l.o.Provider.Finish(r.Context(), one.Attempt, answer)
	if err != nil {
		l.o.Logger.Warn("the console refused a login of its provider", "error", err, "from", l.client(r).String())
		l.show(w, one.to, http.StatusUnauthorized, "The login provider's answer was refused. The console's log says why.")
		return
	}
	if len(l.o.Access.vouched(who.Name, who.Groups)) == 0 {
		l.o.Logger.Warn("the console refused a login: the access file gives neither the name nor a group any right", "user", short(who.Name), "from", l.client(r).String())
		l.show(w, one.to, http.StatusForbidden, "You are known, but have no rights here. Ask an admin for them.")
		return
	}
	l.open(w, r, session{name: who.Name, groups: who.Groups}, one.to)
}

func refuse(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(console.Failure{Error: text}) //nolint:errchkjson // the one who asked has gone
}

func short(name string) string { return name[:min(len(name), 80)] }

// longestTo is the length of the longest address that a browser goes on to after a login, in bytes.
const longestTo = 2000

// back says where a browser goes on after the login.
func back(u *url.URL) string {
	to := strings.TrimPrefix(u.EscapedPath(), "/")
	if u.RawQuery != "" {
		to += "?" + u.RawQuery
	}
	if to == "" || len(to) > longestTo {
		return ""
	}
	return "?to=" + url.QueryEscape(to)
}

// onward is an address of the console: with ./ before it, it cannot name another host.
func onward(to string) string {
	u, err := url.Parse("./" + to)
	if err != nil || u.Scheme != "" || u.Host != "" || strings.Contains(u.Path, "..") || strings.ContainsAny(to, "\\\r\n\t") {
		return "./"
	}
	return u.String()
}
