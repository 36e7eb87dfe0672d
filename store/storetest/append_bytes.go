package storetest

import (
	"math/rand/v2"
	"strings"

	"github.com/postbag/postbag"
)

// bytesCases are about messages arriving bit for bit.
func bytesCases() []scenario {
	return []scenario{
		{name: "Payloads of every byte value and of any size arrive as they were", run: payloads},
		{name: "A payload as large as the store takes arrives as it was", run: largePayload},
		{name: "Topics, keys, types and headers of any text arrive as they were", run: texts},
		{name: "Texts as long as they may be arrive as they were", run: longTexts},
		{name: "Keys that differ in case, accent or space are different keys", run: keysApart},
		{name: "Ids are compared as bytes", run: ids},
		{name: "Hundreds of random messages arrive as they were", run: randomMessages},
	}
}

func payloads(e *env) {
	e.open(1)
	var msgs []postbag.Message
	add := func(b []byte) {
		m := e.message("")
		m.Payload = b
		msgs = append(msgs, m)
	}
	add(nil)
	add([]byte{})
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
		add([]byte{byte(i)})
	}
	add(every)
	add([]byte("\x00"))
	add([]byte("\\x00\\"))
	add([]byte("\xff\xfe invalid \xc3\x28"))
	for _, size := range []int{255, 256, 257, 4095, 4096, 8191, 8192, 65535, 65536, 1 << 20} {
		add(e.noise(size))
	}
	e.pager().expect(e.publish(msgs...)...)
}

// noise returns random bytes.
func (e *env) noise(n int) []byte {
	r := rand.NewChaCha8([32]byte{byte(n)})
	b := make([]byte, n)
	_, _ = r.Read(b)
	return b
}

func largePayload(e *env) {
	info, err := e.Store.Check(e.ctx)
	e.check(err, "check")
	e.open(1)
	m := e.message("k")
	m.Payload = e.noise(min(e.largeBytes, info.MaxMessage))
	after := e.message("k")
	e.publish(m)
	e.publish(after)
	c := e.pager()
	c.req.Bytes = 1
	c.expect(m, after)
}

// odd are texts that stores, drivers and collations have stumbled over.
var odd = []string{
	" ", "a", "A", "a ", " a", "á", "a\u0301", "ß", "ss", "İ", "ключ", "鍵", "🔑", "👩‍👩‍👧",
	"'", `"`, "`", `\`, `\\`, "%s", "%", "_", "$1", "?", ":name", "{}", "[]", "null", "NULL", "--", "/*", ";",
	"\t", "\n", "\r\n", "\x01", "\x1b[0m", "\x7f", "\u0080", "\u200b", "\u2028", "\ufeff", "\ufffd", "\uffff", "\U0010ffff",
	"<script>alert(1)</script>", `{"a":1,"a":2}`, "\\u0000", "\\x00",
}

func texts(e *env) {
	e.open(1)
	var msgs []postbag.Message
	for _, s := range odd {
		m := e.message(s)
		m.Topic, m.Type = s, s
		m.Headers = map[string]string{s: s, "name": s, "x" + s: ""}
		msgs = append(msgs, m)
	}
	bare := e.message("")
	bare.Topic, bare.Type, bare.Headers = "t", "", nil
	msgs = append(msgs, bare)
	c := e.pager()
	c.expect(e.publish(msgs...)...)
}

func longTexts(e *env) {
	e.open(1)
	m := e.message(strings.Repeat("ключ", postbag.MaxKey/8))
	m.ShardKey = strings.Repeat("k", postbag.MaxKey)
	m.Topic = strings.Repeat("t", postbag.MaxName)
	m.Type = strings.Repeat("é", postbag.MaxName/2)
	m.Headers = map[string]string{"long": strings.Repeat("v", 32<<10), strings.Repeat("n", 1024): "v"}
	e.pager().expect(e.publish(m)...)
}

func keysApart(e *env) {
	e.open(1)
	e.pager().expect(e.publish(e.messages(2*len(odd), odd...)...)...)
}

func ids(e *env) {
	e.open(1)
	var msgs []postbag.Message
	for _, b := range []byte{0x00, 0x01, 0x20, 0x5c, 0x7f, 0x80, 0xff} {
		for at := range 16 {
			m := e.message("")
			m.ID = postbag.ID{}
			for i := range m.ID {
				m.ID[i] = b
			}
			m.ID[at] ^= 0x41
			msgs = append(msgs, m)
		}
	}
	for at := 1; at < 15; at++ {
		for tail := range 3 {
			m := e.message("")
			m.ID = postbag.ID{0: 0x77, 15: byte(tail)}
			for i := range at {
				m.ID[i] = 0x77
			}
			msgs = append(msgs, m)
		}
	}
	e.pager().expect(e.publish(msgs...)...)
}

func randomMessages(e *env) {
	e.open(4)
	r := rand.New(rand.NewPCG(1, 2))
	msgs := e.messages(400)
	for i := range msgs {
		m := &msgs[i]
		m.Topic, m.Key, m.Type = "t"+randomText(r, 40), randomText(r, 40), randomText(r, 40)
		m.ShardKey = m.Key
		m.Headers = map[string]string{}
		for range r.IntN(4) {
			m.Headers["h"+randomText(r, 20)] = randomText(r, 200)
		}
		m.Payload = e.noise(r.IntN(3000))
	}
	for len(msgs) > 0 {
		n := min(len(msgs), 1+r.IntN(40))
		e.publish(msgs[:n]...)
		e.checkSince(msgs[:n])
		msgs = msgs[n:]
	}
}

// checkSince fails the case unless the messages that were published last came
// last, whatever was read before.
func (e *env) checkSince(msgs []postbag.Message) {
	e.Helper()
	if e.ongoing == nil {
		e.ongoing = e.pager()
	}
	e.ongoing.expect(msgs...)
}

// randomText returns up to n code points of any kind but NUL.
func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	for range r.IntN(n + 1) {
		c := rune(1 + r.IntN(0x10ffff))
		if c >= 0xd800 && c < 0xe000 {
			c = 'x'
		}
		b.WriteRune(c)
	}
	return b.String()
}
