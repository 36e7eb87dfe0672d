package browser

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postbag/postbag/internal/testserver"
	"github.com/postbag/postbag/internal/testserver/servertest"
)

// castle is a server that serves the pages: a console, or a relay. Nobody logs in.
type castle struct {
	t       *testing.T
	address string
	below   string // the path of the pages, without a slash at its end
	process *testserver.Program
	client  *http.Client
}

// measures of a siege. The servers of the short form may open few files, so that few connections are many.
type measures struct {
	files, streams, slow int
}

func measured() measures {
	if servertest.Full() {
		return measures{files: 16_000, streams: 10_000, slow: 6_000}
	}
	return measures{files: 600, streams: 375, slow: 400}
}

var (
	consoleAt = regexp.MustCompile(`the console is at http://([0-9.:]+)/`)
	adminAt   = regexp.MustCompile(`health and metrics are served.*address=\W*([0-9.:]+)`)
)

// build starts a server with a database of its own.
func build(t *testing.T, command string, says *regexp.Regexp, below string) *castle {
	t.Helper()
	folder, program := t.TempDir(), postbag(t)
	config, log := filepath.Join(folder, "postbag.yaml"), filepath.Join(folder, "log")
	text := fmt.Sprintf("stores: {shop: {dsn: %q}}\ndestinations: {out: {stdout: {}}}\nsubscriptions: [{box: outbox, to: out}]\nadmin: {listen: \"127.0.0.1:0\", console: true}\nconsole: {listen: \"127.0.0.1:0\", commands: true}\n", filepath.Join(folder, "shop.db"))
	w := &world{program: program, config: config}
	for _, err := range []error{os.WriteFile(config, []byte(text), 0o600), os.WriteFile(log, nil, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.with("migrate", "up", "--box", "outbox"); err != nil {
		t.Fatal(err)
	}
	c := &castle{t: t, below: below, client: &http.Client{Timeout: patience}}
	var err error
	c.process, err = testserver.StartProgram(testserver.ProgramOptions{
		Name: command, Path: "/bin/sh", Log: log,
		Args: []string{"-c", `ulimit -n "$0" 2>/dev/null; exec "$@"`, strconv.Itoa(measured().files), program, command, "-c", config},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.client.CloseIdleConnections()
		if err := c.process.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	err = await("it says where it listens", func() bool {
		if m := says.FindStringSubmatch(c.process.LogTail(20)); m != nil {
			c.address = m[1]
		}
		return c.address != ""
	})
	if err != nil {
		t.Fatal(err, c.process.LogTail(20))
	}
	return c
}

// onEachServer runs a test on each command that serves the pages.
func onEachServer(t *testing.T, f func(t *testing.T, c *castle)) {
	t.Helper()
	for command, one := range map[string]struct {
		says  *regexp.Regexp
		below string
	}{"console": {consoleAt, ""}, "relay": {adminAt, "/console"}} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			f(t, build(t, command, one.says, one.below))
		})
	}
}

// files is how many the server has open, and memory how much of it is in use, in bytes.
func (c *castle) files() int {
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", c.process.PID()))
	if err != nil {
		c.t.Fatal(err)
	}
	return len(all)
}

func (c *castle) memory() (size int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", c.process.PID()))
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := fmt.Sscan(strings.Fields(string(text))[1], &size); err != nil {
		c.t.Fatal(err)
	}
	return size * os.Getpagesize()
}

// serves checks that a viewer who comes now gets a page, and the API.
func (c *castle) serves(when string) {
	c.t.Helper()
	for _, path := range []string{"/", "/api/v1/overview", "/databases/shop/boxes/outbox/messages"} {
		c.client.CloseIdleConnections()
		began := time.Now()
		if code, body := c.get(path); code != http.StatusOK || !strings.Contains(body, "outbox") {
			c.t.Errorf("%s %s answers %d after %v: %s", when, path, code, time.Since(began), body)
		}
	}
}

// get asks for a page.
func (c *castle) get(path string) (int, string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, "http://"+c.address+c.below+path, http.NoBody)
	if err != nil {
		c.t.Fatal(err)
	}
	answer, err := c.client.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// send begins a connection with the beginning of a request.
func (c *castle) send(text string) net.Conn {
	c.t.Helper()
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(c.t.Context(), "tcp", c.address)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = conn.Close() })
	_, _ = io.WriteString(conn, text) // it may have been ended already
	return conn
}

func TestWhoSendsRequestsSlowlyKeepsNobodyElseOut(t *testing.T) {
	t.Parallel()
	onEachServer(t, func(t *testing.T, c *castle) {
		m := measured()
		c.serves("at first")
		files, memory := c.files(), c.memory()
		slow := []string{
			"", "GET " + c.below + "/ HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
			"POST " + c.below + "/databases/shop/boxes/outbox/errors/commands HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\ndo=retry",
			"GET " + c.below + "/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n\r\n",
		}
		for i := range m.slow {
			c.send(slow[i%len(slow)])
			if i%(m.slow/4) == 0 {
				c.serves(fmt.Sprintf("with %d slow requests", i))
			}
		}
		c.serves("with all slow requests")
		if most := m.files/8 + 40; c.files()-files > most {
			t.Errorf("%d slow requests hold %d files of the server, want at most %d", m.slow, c.files()-files, most)
		}
		if more := c.memory() - memory; more > 256<<20 {
			t.Errorf("%d slow requests cost %d MiB", m.slow, more>>20)
		}
	})
}

// stream begins a stream of events, and returns the answer.
func (c *castle) stream() (code int, header http.Header, events *bufio.Reader) {
	c.t.Helper()
	conn := c.send("GET " + c.below + "/api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		c.t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = conn.Close(); _ = answer.Body.Close() })
	return answer.StatusCode, answer.Header, bufio.NewReader(answer.Body)
}

func TestAsManyStreamsAsThereMayBeLeavePlaceForPages(t *testing.T) {
	t.Parallel()
	onEachServer(t, func(t *testing.T, c *castle) {
		m := measured()
		c.serves("at first")
		memory := c.memory()
		for i := range m.streams {
			code, _, events := c.stream()
			if code != http.StatusOK {
				t.Fatalf("stream %d is answered with %d", i, code)
			}
			if i == m.streams-1 {
				line, err := events.ReadString('\n')
				if err != nil || !strings.HasPrefix(line, "retry:") {
					t.Errorf("the last stream says %q: %v", line, err)
				}
			}
		}
		if code, header, _ := c.stream(); code != http.StatusServiceUnavailable || header.Get("Retry-After") == "" {
			t.Errorf("one more is answered with %d, and %v", code, header)
		}
		c.serves("beside all streams")
		if more, most := c.memory()-memory, 64<<20+m.streams*64<<10; more > most {
			t.Errorf("%d streams cost %d MiB, want at most %d", m.streams, more>>20, most>>20)
		}
		t.Logf("%d streams cost %d MiB", m.streams, (c.memory()-memory)>>20)
	})
}

// raw sends a whole request as it is, and returns the status and the body of the answer. Zero: the server ended the connection.
func (c *castle) raw(request string) (code int, body string) {
	c.t.Helper()
	conn := c.send("")
	go func() { _, _ = io.WriteString(conn, request) }() // the answer may come before its end
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		c.t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = answer.Body.Close() }()
	text, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(text)
}

func TestNoPathLeadsOutOfThePages(t *testing.T) {
	t.Parallel()
	up := []string{"..", "%2e%2e", "..%2f..", "%2e%2e%2f%2e%2e", "..%5c..", "....//", "..;", "%252e%252e%252f", "%c0%ae%c0%ae", "..%00"}
	onEachServer(t, func(t *testing.T, c *castle) {
		for _, way := range up {
			out := strings.Repeat(way+"/", 8)
			for _, path := range []string{
				"/" + out + "etc/passwd", "/style.css/" + out + "etc/passwd", "/databases/" + out + "etc/passwd", "/databases/shop/boxes/" + out + "etc/passwd",
				"/databases/shop/boxes/outbox/subscriptions/" + out + "etc/passwd", "/databases/shop/boxes/outbox/messages/" + way + "/key", "/api/v1/events?of=/" + out + "etc/passwd", "/api/v1/events?of=file:///etc/passwd",
			} {
				code, body := c.raw("GET " + c.below + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
				if strings.Contains(body, "root:") || code == http.StatusOK || code >= 500 {
					t.Errorf("%s answers %d: %s", path, code, body)
				}
			}
		}
		for _, target := range []string{"http://evil.example/", "//evil.example/", "/\\evil.example/", "*", "evil.example:443"} {
			method := "GET"
			if strings.HasSuffix(target, ":443") {
				method = "CONNECT"
			}
			code, body := c.raw(method + " " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
			if code == http.StatusOK && !strings.Contains(body, "Postbag") || code >= 500 {
				t.Errorf("%s %s answers %d: %s", method, target, code, body)
			}
		}
		c.serves("after all paths")
	})
}

func TestARequestThatIsTooLargeIsRefusedBeforeItIsKept(t *testing.T) {
	t.Parallel()
	onEachServer(t, func(t *testing.T, c *castle) {
		c.serves("at first")
		memory := c.memory()
		const head, form = " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n", "Content-Type: application/x-www-form-urlencoded\r\n"
		commands := "POST " + c.below + "/api/v1/databases/shop/boxes/outbox/errors/commands HTTP/1.1\r\nHost: 127.0.0.1\r\n" + form
		long, much := strings.Repeat("a", 64<<10), strings.Repeat("do=retry&", 1<<20)
		for name, one := range map[string]struct {
			request string
			code    int
			says    string
		}{
			"a header":                         {"GET " + c.below + "/" + head + "X-Long: " + long + "\r\n\r\n", http.StatusRequestHeaderFieldsTooLarge, ""},
			"many headers":                     {"GET " + c.below + "/" + head + strings.Repeat("X-A: b\r\n", 10_000) + "\r\n", http.StatusRequestHeaderFieldsTooLarge, ""},
			"an address":                       {"GET " + c.below + "/" + long + head + "\r\n", http.StatusRequestHeaderFieldsTooLarge, ""},
			"a filter":                         {"GET " + c.below + "/databases/shop/boxes/outbox/messages?key=" + long + head + "\r\n", http.StatusRequestHeaderFieldsTooLarge, ""},
			"a cookie":                         {"GET " + c.below + "/" + head + "Cookie: postbag=" + long + "\r\n\r\n", http.StatusRequestHeaderFieldsTooLarge, ""},
			"a form":                           {commands + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(much), much), http.StatusBadRequest, "the form has more than"},
			"a form of an unknown length":      {commands + fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(much), much), http.StatusBadRequest, "the form has more than"},
			"a form that says that it is huge": {commands + "Content-Length: 9000000000000000000\r\n\r\n" + much[:64<<10], http.StatusBadRequest, "the form has more than"},
		} {
			if code, body := c.raw(one.request); code != 0 && (code != one.code || !strings.Contains(body, one.says)) {
				t.Errorf("%s that is too large is answered with %d: %s", name, code, body)
			}
		}
		c.serves("after all of them")
		if more := c.memory() - memory; more > 64<<20 {
			t.Errorf("requests that are too large cost %d MiB", more>>20)
		}
	})
}
