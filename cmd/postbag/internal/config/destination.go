package config

import (
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// componentName is what people may call a store or a destination.
var componentName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,63}$`)

func (d *Destination) check(p *problems, where string, k Kinds) {
	if given := count(d.URL, d.URLEnv, d.URLFile); given > 1 {
		p.atf(where, "names %d places for the URL; give one of url, url_env and url_file", given)
	}
	if HasCredential(d.URL) {
		p.atf(where+".url", "holds a user, password or token; put the URL into the environment (url_env) or a file (url_file)")
	}
	for name, value := range d.texts() {
		switch {
		case strings.HasSuffix(name, "_env"):
			envName(p, below(where, name), value)
		case strings.HasSuffix(name, "_file"):
			fileName(p, below(where, name), value)
		}
	}
	between(p, where+".timeout", d.Timeout, time.Millisecond, time.Hour)
	between(p, where+".recheck", d.Recheck, time.Millisecond, 24*time.Hour)
	between(p, where+".replica_wait", d.ReplicaWait, time.Millisecond, time.Hour)
	between(p, where+".max_age", d.MaxAge, time.Second, 100*365*24*time.Hour)
	between(p, where+".linger", d.Linger, time.Microsecond, 10*time.Second)
	upTo(p, where+".epoch", d.Epoch, math.MaxInt32)
	between(p, where+".keep_alive", d.KeepAlive, time.Second, 18*time.Hour)
	between(p, where+".heartbeat", d.Heartbeat, time.Second, time.Hour)
	for _, one := range []struct{ a, b, what string }{
		{d.PasswordEnv, d.PasswordFile, "password"},
		{d.TokenEnv, d.TokenFile, "token"},
		{d.SentinelPasswordEnv, d.SentinelPasswordFile, "sentinel_password"},
	} {
		if one.a != "" && one.b != "" {
			p.atf(where, "has both %s_env and %s_file; keep one", one.what, one.what)
		}
	}
	d.checkKind(p, where, k)
}

// checkKind checks that the kind is told, and takes what is set. A URL from the
// environment tells the kind only when it is read.
func (d *Destination) checkKind(p *problems, where string, k Kinds) {
	if d.Kind == "" && d.URL == "" {
		if d.URLEnv == "" && d.URLFile == "" {
			p.atf(where, "has no URL; give one of url, url_env and url_file")
		}
		return
	}
	kind, mistake := k.DestinationKind(d.Kind, d.URL)
	if kind == nil {
		p.atf(below(where, kindOr(d.Kind, "url")), "%s", mistake)
		return
	}
	for _, name := range d.Unfit(kind) {
		p.atf(below(where, name), "is no setting of a destination of kind %s, which takes %s; leave it out",
			kind.Name, strings.Join(slices.Concat([]string{"url", "url_env", "url_file"}, kind.Settings), ", "))
	}
	if !kind.NoPlace && count(d.URL, d.URLEnv, d.URLFile) == 0 {
		p.atf(where, "has no URL; give one of url, url_env and url_file")
	}
}

// Unfit returns the names of settings that are set and that k does not take,
// sorted.
func (d *Destination) Unfit(k *Kind) []string {
	var out []string
	for f, v := range reflect.ValueOf(d).Elem().Fields() {
		name := f.Tag.Get("yaml")
		general := slices.Contains([]string{"kind", "url", "url_env", "url_file"}, name)
		if !v.IsZero() && !general && !slices.Contains(k.Settings, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Settings returns the names of all settings of a destination.
func (d *Destination) Settings() []string {
	var out []string
	for f := range reflect.ValueOf(d).Elem().Fields() {
		out = append(out, f.Tag.Get("yaml"))
	}
	return out
}

// texts are the settings that are texts or lists of them, by name.
func (d *Destination) texts() func(yield func(name, value string) bool) {
	return func(yield func(name, value string) bool) {
		for f, v := range reflect.ValueOf(d).Elem().Fields() {
			var values []string
			switch one := v.Interface().(type) {
			case string:
				values = []string{one}
			case []string:
				values = one
			}
			for _, value := range values {
				if !yield(f.Tag.Get("yaml"), value) {
					return
				}
			}
		}
	}
}

// envName checks what should be the name of an environment variable. It is not
// quoted: it may be the secret itself.
func envName(p *problems, where, name string) {
	if name != "" && !environmentName.MatchString(name) {
		p.atf(where, "is no name of an environment variable; write the variable's name, not its value")
	}
}

// fileName checks what should be a path.
func fileName(p *problems, where, path string) {
	if strings.Contains(path, "://") || strings.ContainsAny(path, "\r\n\x00") || HasPassword(path) {
		p.atf(where, "is no path of a file; write the value into a file and name that")
	}
}
