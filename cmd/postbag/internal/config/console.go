package config

import (
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/postbag/postbag/cmd/postbag/internal/duration"
)

// Console is what postbag console serves, and a relay with admin.console, and to whom. The other commands take no notice of it.
type Console struct {
	// Address of the console; a bare port means loopback. An address that other machines reach
	// needs access, and tls or proxy.addresses.
	Listen string `yaml:"listen" default:"127.0.0.1:9292"`
	// Show payloads and headers of messages. With access, only to those who have payloads there.
	Payloads bool `yaml:"payloads" default:"false"`
	// Write each look at payload and headers of a message into the audit log, with who it was, before
	// they are shown. If it cannot be written, they are not shown.
	AuditPayloads bool `yaml:"audit_payloads" default:"false"`
	// What of payloads and headers nobody sees.
	Redact ConsoleRedact `yaml:"redact"`
	// Take commands of operators: retry or discard messages, publish or cancel scheduled ones, pause or resume a subscription.
	// Without access everybody who reaches the address is an operator.
	Commands bool `yaml:"commands" default:"false"`
	// Let operators who may see payloads publish a message again as a new one, edited. It needs
	// commands and payloads.
	Edits bool `yaml:"edits" default:"false"`
	// How long lies between two samples of each store, from 2s to 30s, or off. The charts of the last
	// hour are made of them. Each sample costs what postbag status asks. With off, a store is read only
	// while somebody looks.
	Sample string `yaml:"sample" default:"5s"`
	// The Prometheus that scrapes the relays. The console then has charts of days, and how long
	// messages took to be delivered.
	Prometheus ConsolePrometheus `yaml:"prometheus"`
	// The file that says who has which rights, and who logs in with a password. It is read again
	// when it changes. See guides/console.md.
	Access string `yaml:"access" otherwise:"no login: who reaches the address sees everything"`
	// The file with the descriptors of your protocol buffers, as protoc --descriptor_set_out
	// --include_imports writes it. Payloads are then shown as text to those who may see payloads.
	Descriptors string `yaml:"descriptors" otherwise:"payloads of protocol buffers are shown as bytes"`
	// Which message of the descriptors a payload is, by the type of the message, or by its topic.
	// Without a line the type is the full name, such as shop.v1.Order.
	MessageTypes map[string]string `yaml:"message_types" otherwise:"none"`
	// The address of a trace with {trace_id}, and {span_id} if you like, such as
	// https://jaeger.example/trace/{trace_id}. Messages with the header traceparent link theirs.
	TraceLink string `yaml:"trace_link" otherwise:"no links to traces"`
	// The certificate that browsers see.
	TLS ConsoleTLS `yaml:"tls"`
	// The proxy before the console, if there is one.
	Proxy ConsoleProxy `yaml:"proxy"`
	// The OpenID Connect provider that people log in at, if there is one.
	OIDC ConsoleOIDC `yaml:"oidc"`
	// A session ends that long after its last request.
	Idle time.Duration `yaml:"idle" range:"1m..24h" default:"30m"`
	// A session ends that long after its login.
	Absolute time.Duration `yaml:"absolute" range:"1m..720h" default:"12h"`
}

// ConsolePrometheus is where a console finds what its own samples do not reach.
type ConsolePrometheus struct {
	// Its address, such as http://127.0.0.1:9090.
	URL string `yaml:"url" otherwise:"the last hour alone"`
	// Labels that all metrics of these relays have, as name: value, if it has others too.
	Labels map[string]string `yaml:"labels" otherwise:"none"`
}

// ConsoleTLS is the certificate of a console. Both files are read again when they change.
type ConsoleTLS struct {
	// The file with the certificate and those above it, in PEM.
	CertFile string `yaml:"cert_file" otherwise:"no TLS"`
	// The file with its key, in PEM.
	KeyFile string `yaml:"key_file" otherwise:"no TLS"`
}

// ConsoleProxy is a proxy before a console.
type ConsoleProxy struct {
	// The proxy's addresses, such as 10.1.2.3 or 10.1.0.0/16. Browsers must reach the proxy by
	// https alone. From these addresses X-Forwarded-For is believed.
	Addresses []string `yaml:"addresses" otherwise:"no proxy"`
	// The header in which the proxy says who asks. It counts from its addresses alone. The proxy must
	// replace what a browser sends in it.
	UserHeader string `yaml:"user_header" otherwise:"the proxy vouches for nobody"`
	// The header in which it says the groups, with commas between.
	GroupsHeader string `yaml:"groups_header" otherwise:"no groups"`
}

// ConsoleOIDC is a provider of OpenID Connect.
type ConsoleOIDC struct {
	// The provider's address, as it names itself. /.well-known/openid-configuration is below it.
	Issuer string `yaml:"issuer" otherwise:"no provider"`
	// The name that the provider gave the console. A token of another audience is refused.
	ClientID string `yaml:"client_id"`
	// The file with the secret that goes with it.
	ClientSecretFile string `yaml:"client_secret_file" otherwise:"no secret: the provider relies on PKCE"`
	// The console's address as browsers see it, such as https://console.example.com. The provider
	// must allow /callback below it.
	URL string `yaml:"url"`
	// What to ask for beside openid.
	Scopes []string `yaml:"scopes" otherwise:"email"`
	// The claim of the token that has the name of a user of the access file. The provider must say
	// that an email is verified.
	NameClaim string `yaml:"name_claim" default:"email"`
	// The claim of the token that has the groups.
	GroupsClaim string `yaml:"groups_claim" default:"groups"`
}

// Proxies reads the addresses.
func (p *ConsoleProxy) Proxies() (all []netip.Prefix, mistake string) {
	for _, text := range p.Addresses {
		one, err := netip.ParsePrefix(text)
		if address, wrong := netip.ParseAddr(text); err != nil && wrong == nil {
			address = address.Unmap()
			one, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		if err != nil || one.Addr().Is4In6() {
			return nil, "names no address; write those of your proxy, such as 10.1.2.3 or 10.1.0.0/16"
		}
		all = append(all, one)
	}
	return all, ""
}

// The bounds of Console.Sample.
const leastSample, mostSample = 2 * time.Second, 30 * time.Second

// Sampling reads how often samples are taken, as console.Options.Sample has it: below zero never, and zero says nothing.
func (c *Console) Sampling() (every time.Duration, mistake string) {
	switch c.Sample {
	case "":
		return 0, ""
	case "off":
		return -1, ""
	}
	every, err := duration.Parse(c.Sample)
	if err != nil || every < leastSample || every > mostSample {
		return 0, "is neither off nor a duration from 2s to 30s; write one of them, such as 5s"
	}
	return every, ""
}

func (f *File) checkConsole() {
	p, c := f.problems, &f.Console
	for _, m := range c.mistakes() {
		p.atf("console."+m[0], "%s", m[1])
	}
	if listen, mistake := ListenAddress(c.Listen); mistake != "" {
		p.atf("console.listen", "%s", mistake)
	} else {
		c.Listen = listen
	}
}

// Mistake is the first of what is wrong with the settings, with the name of the setting; empty: nothing is.
func (c *Console) Mistake() (setting, mistake string) {
	if all := c.mistakes(); len(all) > 0 {
		return all[0][0], all[0][1]
	}
	return "", ""
}

func (c *Console) mistakes() (all [][2]string) {
	say := func(wrong bool, setting, mistake string) {
		if wrong {
			all = append(all, [2]string{setting, mistake})
		}
	}
	_, mistake := c.Sampling()
	say(mistake != "", "sample", mistake)
	say(c.Prometheus.URL == "" && len(c.Prometheus.Labels) > 0, "prometheus.url", "is missing; write the address of Prometheus, such as http://127.0.0.1:9090")
	_, mistake = c.Proxy.Proxies()
	say(mistake != "", "proxy.addresses", mistake)
	say((c.TLS.CertFile == "") != (c.TLS.KeyFile == ""), "tls", "has one of two files; name cert_file and key_file")
	behind, vouches := len(c.Proxy.Addresses) > 0, c.Proxy.UserHeader != ""
	say(c.Access == "" && (behind || vouches || c.OIDC.Issuer != ""), "access", "is missing: without it nobody has to log in; name the file that says who has which rights")
	say(vouches && !behind, "proxy.addresses", "is missing: anybody could send the header; name the addresses of the proxy")
	say(c.Proxy.GroupsHeader != "" && !vouches, "proxy.user_header", "is missing: groups alone name nobody; name the header of the user")
	say(c.Edits && (!c.Commands || !c.Payloads), "edits", "needs commands and payloads, since it is a command of those who see payloads; say commands: true and payloads: true, or leave it out")
	say(c.AuditPayloads && !c.Payloads, "audit_payloads", "has nothing to audit, since the console shows no payloads; say payloads: true, or leave it out")
	all = append(all, c.Redact.mistakes()...)
	say(len(c.MessageTypes) > 0 && c.Descriptors == "", "descriptors", "is missing: message_types name what is in it; name the file that protoc --descriptor_set_out wrote")
	say(!traceLink(c.TraceLink), "trace_link", "is no address with {trace_id} in it; write one such as https://jaeger.example/trace/{trace_id}")
	all = append(all, c.OIDC.mistakes()...)
	return all
}

// traceLink says whether a template is the address of a trace, or is left out.
func traceLink(template string) bool {
	u, err := url.Parse(strings.NewReplacer("{trace_id}", "a", "{span_id}", "b").Replace(template))
	return template == "" || err == nil && u.Host != "" && u.User == nil && (u.Scheme == "https" || u.Scheme == "http") && strings.Contains(template, "{trace_id}")
}

func (c *ConsoleOIDC) mistakes() (all [][2]string) {
	if c.Issuer == "" {
		if c.ClientID != "" || c.URL != "" || c.ClientSecretFile != "" {
			all = append(all, [2]string{"oidc.issuer", "is missing; write the provider's address"})
		}
		return all
	}
	if c.ClientID == "" {
		all = append(all, [2]string{"oidc.client_id", "is missing; write the name that the provider gave the console"})
	}
	for _, one := range [][2]string{{"oidc.issuer", c.Issuer}, {"oidc.url", c.URL}} {
		if u, err := url.Parse(one[1]); err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || !isHere(u.Hostname())) {
			all = append(all, [2]string{one[0], "is no https address; write one such as https://login.example.com"})
		}
	}
	return all
}

// isHere says whether a host is this machine by its name or number.
func isHere(host string) bool {
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.IsLoopback()
}
