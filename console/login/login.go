package login

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/postbag/postbag/console"
)

// How long sessions last, if nobody says it.
const (
	DefaultIdle     = 30 * time.Minute
	DefaultAbsolute = 12 * time.Hour
)

// Options say who is let in, and how.
type Options struct {
	// Access says who has which rights. Required.
	Access *Access
	// Headers are those of a proxy that vouches for people.
	Headers ProxyHeaders
	// Proxies are the addresses of the proxies that are believed: who asks, by Headers, and from where, by X-Forwarded-For.
	Proxies []netip.Prefix
	// OnlyProxies: requests from other addresses are refused, since they do not come by https.
	OnlyProxies bool
	// Provider is one that people log in at. Nil: there is none.
	Provider Provider
	// Secure: browsers reach the console by https alone, so cookies go no other way.
	Secure bool
	// Idle and Absolute are when a session ends: that long after its last request, and that long after its login. Zero: DefaultIdle
	// and DefaultAbsolute.
	Idle, Absolute time.Duration
	// Logger gets who logged in, and who was refused. Nil: nobody gets it.
	Logger *slog.Logger
}

// Login lets people into a console. It may be used concurrently.
type Login struct {
	o          Options
	sessions   *sessions
	attempts   attempts
	names      *limit // those of the access file
	strangers  *limit // other names, so that they cannot push out those
	providers  *limit
	addresses  *limit
	tokens     *limit // those that were refused, by address
	working    chan struct{}
	forgery    *http.CrossOriginProtection
	cookie     string
	tryingName string
}

// New makes a login. Its addresses are login, logout, provider and callback beside the console's first page.
func New(o Options) (*Login, error) {
	if o.Access == nil {
		return nil, errors.New("login: there is no Access; open an access file")
	}
	if o.Headers.User != "" && len(o.Proxies) == 0 {
		return nil, errors.New("login: Headers are believed from Proxies alone, and there are none; name the addresses of your proxy")
	}
	if o.Headers.User == "" && o.Headers.Groups != "" {
		return nil, errors.New("login: there is a header of groups, but none of the user; name both")
	}
	if o.Idle < 0 || o.Absolute < 0 {
		return nil, errors.New("login: Idle and Absolute may not be below zero; leave them out for 30m and 12h")
	}
	o.Idle, o.Absolute = cmp.Or(o.Idle, DefaultIdle), cmp.Or(o.Absolute, DefaultAbsolute)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Login{
		o: o, sessions: newSessions(o.Idle, o.Absolute), attempts: attempts{open: make(map[string]attempt)},
		// Ten tries at once, then one in 15 seconds for a name, and one in six for an address.
		names: newLimit(15 * time.Second), strangers: newLimit(15 * time.Second),
		addresses: newLimit(6 * time.Second), providers: newLimit(6 * time.Second), tokens: newLimit(6 * time.Second),
		working: make(chan struct{}, 2),
		forgery: http.NewCrossOriginProtection(),
		cookie:  "postbag_session", tryingName: "postbag_login",
	}, nil
}

// Wrap puts the login before a console, whose Options.Stranger is Stranger. It says who asks, and has the page of the login.
func (l *Login) Wrap(next http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login", l.page)
	mux.HandleFunc("POST /login", l.withPassword)
	mux.HandleFunc("POST /logout", l.logout)
	if l.o.Provider != nil {
		mux.HandleFunc("GET /provider", l.toProvider)
		mux.HandleFunc("GET /callback", l.fromProvider)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		find, began := l.sessions.of, time.Now()
		if r.URL.Path == "/api/v1/events" || r.Header.Get("Postbag-Again") != "" { // an open page that updates itself
			find = l.sessions.peek
		}
		u, err := l.user(r, find)
		if err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		if token, _ := bearer(r); token != "" && u == nil { // user has refused several
			l.refuseToken(w, r)
			return
		}
		if u != nil {
			u.Again = func() *console.User {
				if time.Since(began) >= l.o.Absolute { // a proxy that vouched then may not now
					return nil
				}
				now, _ := l.user(r, l.sessions.peek) // what was malformed had no answer
				return now
			}
			r = r.WithContext(console.WithUser(r.Context(), u))
		}
		next.ServeHTTP(w, r)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		console.SetHeaders(w.Header())
		if l.o.OnlyProxies && !l.isProxy(peer(r)) {
			refuse(w, http.StatusForbidden, "the console is reached through its proxy alone; open the proxy's address")
			return
		}
		if err := l.forgery.Check(r); err != nil {
			refuse(w, http.StatusForbidden, "a page of another site sent this; do it on the console's own page")
			return
		}
		if r.URL.Path == "/provider" && embedded(r) { // it would use up the tries of its visitor
			refuse(w, http.StatusForbidden, "a page of another site asked for this; log in on the console's own page")
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// embedded says whether a page of another site makes a browser ask, other than by a link that somebody follows.
func embedded(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Dest") != "document"
}

// Stranger answers somebody who is not logged in and asks for what needs it: with the page of the login, or with 401.
func (l *Login) Stranger(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/api/") || !l.hasPage() || r.Method != http.MethodGet {
		refuse(w, http.StatusUnauthorized, "you are not logged in, or have no rights here; open the console's page to log in, or ask an admin for rights")
		return
	}
	up := strings.Repeat("../", max(0, strings.Count(r.URL.EscapedPath(), "/")-1))
	w.Header().Set("Location", up+"login"+back(r.URL))
	w.WriteHeader(http.StatusSeeOther)
}

// hasPage says whether people log in here, and not at a proxy alone.
func (l *Login) hasPage() bool { return l.o.Provider != nil || l.o.Access.HasPasswords() }

// user returns who asks; nil: nobody with any right. A token comes first: with one, neither a proxy's word nor a session counts, and so
// no cookie of a browser gives a request more than its token does. A proxy's word comes before a session, which find finds.
func (l *Login) user(r *http.Request, find func(id string) (session, bool)) (*console.User, error) {
	token, err := bearer(r)
	if token != "" || err != nil {
		return l.o.Access.withToken(token, time.Now()), err
	}
	name, groups, err := l.vouchedBy(r)
	if err != nil {
		return nil, err
	}
	if name != "" {
		return someone(name, l.o.Access.vouched(name, groups), false), nil
	}
	cookie, err := r.Cookie(l.cookie)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // it has no session
	}
	s, open := find(cookie.Value)
	if !open {
		return nil, nil //nolint:nilnil // nobody
	}
	if s.hash != "" {
		return someone(s.name, l.o.Access.withPassword(s.name, s.hash), true), nil
	}
	return someone(s.name, l.o.Access.vouched(s.name, s.groups), true), nil
}

func someone(name string, rights console.Rights, session bool) *console.User {
	if len(rights) == 0 {
		return nil
	}
	return &console.User{Name: name, Rights: rights, Session: session}
}

// open begins a session with an id of its own, ends the one before, and sends the browser on.
func (l *Login) open(w http.ResponseWriter, r *http.Request, s session, to string) {
	if old, err := r.Cookie(l.cookie); err == nil {
		l.sessions.end(old.Value)
	}
	l.setCookie(w, l.cookie, l.sessions.begin(s), 0)
	l.o.Logger.Info("somebody logged in to the console", "user", s.name, "from", l.client(r).String())
	w.Header().Set("Location", onward(to))
	w.WriteHeader(http.StatusSeeOther)
}

func (l *Login) logout(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(l.cookie); err == nil {
		l.sessions.end(cookie.Value)
	}
	l.setCookie(w, l.cookie, "", -1)
	w.Header().Set("Location", "login")
	w.WriteHeader(http.StatusSeeOther)
}

// setCookie sets one for the folder that the login is in. No script reads it, and other sites' forms do not bring it.
func (l *Login) setCookie(w http.ResponseWriter, name, value string, age int) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // Secure is set wherever it can be
		Name: name, Value: value, MaxAge: age,
		HttpOnly: true, Secure: l.o.Secure, SameSite: http.SameSiteLaxMode,
	})
}
