package redisbroker

import (
	"crypto/tls"
	"errors"
	"strings"
)

// Login says how Dial makes its connections. The zero Login uses what the URLs
// hold. None of it is ever logged or part of an error.
type Login struct {
	// User and Password, where the server asks for them; in place of those in a
	// URL. A password without a user is the default user's.
	User, Password string
	// Primary is the name under which sentinels watch the primary ("mymaster"): the
	// URLs are then the sentinels'. Defaults to URLs of the servers themselves.
	Primary string
	// SentinelUser and SentinelPassword, where the sentinels ask for them.
	SentinelUser, SentinelPassword string
	// Cluster says that a single URL is that of a cluster's node. Several URLs
	// without Primary are always a cluster's.
	Cluster bool
	// TLS, where set, is used with each server. Defaults to TLS with the system's
	// roots where the URLs say rediss://.
	TLS *tls.Config
	// Name is what CLIENT LIST shows, one word; it needs the right to CLIENT SETNAME.
	// Defaults to none.
	Name string
}

// validate returns every fault; of names the options that have the login.
func (l Login) validate(of string) []error {
	var faults []error
	fault := func(text string) { faults = append(faults, errors.New("redisbroker: "+of+".Login."+text)) }
	if l.User != "" && l.Password == "" {
		fault("User is set without Password; set both")
	}
	if l.Primary == "" && (l.SentinelUser != "" || l.SentinelPassword != "") {
		fault("SentinelUser or SentinelPassword is set without Primary; name what the sentinels watch")
	}
	if l.Primary != "" && l.Cluster {
		fault("Primary and Cluster are both set; sentinels watch no cluster, so drop one")
	}
	if strings.ContainsAny(l.Name, " \t\r\n") {
		fault("Name has a space; use one word")
	}
	return faults
}
