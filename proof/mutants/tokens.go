package mutants

// loginTests are those of the logins of a console.
func loginTests(run string) Instrument {
	return Instrument{Module: "console", Package: "./login", Run: run}
}

// Mistakes around tokens of the console, and the command line that sends one.
var tokens = []Mutant{
	{
		Name: "token-on-a-redirect", What: "the command line follows a redirect of a console, and sends its token there",
		Evidence: "clients that keep the header Authorization when only the port of a redirect is another one",
		Patches:  []Patch{{"cmd/postbag/internal/remote/client.go", "CheckRedirect: stay}", "CheckRedirect: nil}"}},
		By:       daemonTests("internal/remote", "TestATokenGoesNowhereElse"), Quick: true,
	},
	{
		Name: "token-in-the-open", What: "the command line sends its token by http to any address",
		Evidence: "command lines that take http:// from a variable",
		Patches:  []Patch{{"cmd/postbag/internal/remote/client.go", "	case u.Scheme == \"http\" && !console.LoopbackHost(u.Host):\n", "	case u.Scheme == \"http\" && u.Host == \"\":\n"}},
		By:       daemonTests("internal/remote", "TestATokenGoesByHTTPSAlone"), Quick: true,
	},
	{
		Name: "token-falls-back-to-a-cookie", What: "a request with a wrong token has the rights of the cookie beside it",
		Evidence: "made on purpose",
		Patches:  []Patch{{"console/login/login.go", "	if token != \"\" || err != nil {\n		return l.o.Access.withToken(token, time.Now()), err\n	}\n", "	if u := l.o.Access.withToken(token, time.Now()); u != nil || err != nil {\n		return u, err\n	}\n"}},
		By:       loginTests("TestAWrongTokenLetsNobodyIn"),
	},
	{
		Name: "token-without-its-role", What: "a token has all rights, whatever its line grants",
		Evidence: "keys of an API that know no role",
		Patches:  []Patch{{"console/login/token.go", "	return someone(t.name, t.rights, false)\n", "	return someone(t.name, console.Rights{{Role: console.Admin, Payloads: true, Databases: \"*\", Boxes: \"*\"}}, false)\n"}},
		By:       loginTests("TestATokenHasTheRightsOfItsLine"),
	},
	{
		Name: "token-without-end", What: "a token is good after the time that its line says",
		Evidence: "made on purpose",
		Patches:  []Patch{{"console/login/token.go", "	if t == nil || !t.expires.IsZero() && !now.Before(t.expires) {\n", "	if t == nil {\n"}},
		By:       loginTests("TestATokenEnds"),
	},
	{
		Name: "half-an-answer-for-the-whole", What: "the command line takes an answer that broke off, or another status, for an answer of the console",
		Evidence: "clients that look at the body alone",
		Patches:  []Patch{{"cmd/postbag/internal/remote/ask.go", "	case w.StatusCode != http.StatusOK:\n", "	case w.StatusCode >= http.StatusInternalServerError:\n"}},
		By:       daemonTests("internal/remote", "TestARefusalSaysWhatToDo"), Quick: true,
	},
}
