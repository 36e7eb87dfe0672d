package console

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// policy lets a page load what the console itself serves, and run no script but that. None stands in a page.
const policy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// forgery refuses what would change something, if a page of another site sends it.
var forgery = http.NewCrossOriginProtection()

// guarded keeps other sites out: by headers on every answer, and by a refusal where a page of theirs asks.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		SetHeaders(w.Header())
		if fromElsewhere(r) || forgery.Check(r) != nil {
			writeJSON(w, http.StatusForbidden, Failure{Error: "a page of another site asked for this; open the console's own page, or ask with a program"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// SetHeaders sets the headers that keep other sites out of an answer. The console sets them on its own answers.
func SetHeaders(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// fromElsewhere says whether a page of another site makes a browser ask. It could not read the answer, but an image of its page
// that is an export would keep the database busy. A link to the console's page is let through.
func fromElsewhere(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		return strings.HasPrefix(r.URL.Path, "/api/") || r.Header.Get("Sec-Fetch-Dest") != "document"
	}
	return false
}

// Loopback passes on only requests for a loopback address or localhost, by their Host header. Wrap the console in it if it has no
// login: a page of another site can point a name of its own at 127.0.0.1, and its script would read the answers.
func Loopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !LoopbackHost(r.Host) {
			SetHeaders(w.Header())
			writeJSON(w, http.StatusMisdirectedRequest, Failure{Error: "this console answers only to localhost and loopback addresses; open it as http://127.0.0.1 with its port"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// LoopbackHost says whether a host, with or without a port, is localhost or a loopback address. Other names are none, wherever
// they lead.
func LoopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}
