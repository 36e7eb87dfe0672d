package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPasswordsAreSeenInEverySpelling(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{
		"postgres://u:CANARY@h/d",
		"postgresql://u:CANARY@h:5432/d?sslmode=require",
		"POSTGRES://u:CANARY@h/d",
		"postgres://u:CAN%41RY@h/d",
		"postgres://u:CANARY@h1:5432,h2:5432/d",
		"postgres://u:CAN@ARY@h/d",
		"postgres://u:CANARY/@h/d",
		"postgres://u:CANARY#@h/d",
		"postgres://u:%zzCANARY@h/d",
		"postgres://:CANARY@h/d",
		"postgres://h/d?user=u&password=CANARY",
		"postgres://h/d?pass%77ord=CANARY",
		"postgres://h/d?sslpassword=CANARY",
		" postgres://u:CANARY@h/d",
		"postgres://u:CANARY@/d?host=/run/postgresql",
		"host=h user=u password=CANARY",
		"host=h user=u password = CANARY",
		"host=h PASSWORD='CANARY with spaces'",
		"password=CANARY host=h",
		"host=h sslpassword=CANARY",
		"jdbc:postgresql://h/d?user=u&password=CANARY",
		"u:CANARY@tcp(h:3306)/d",
		"mysql://u:CANARY@h/d",
		"sqlite:file.db?password=CANARY",
		"nats://u:CANARY@h:4222",
		"nats://h1:4222,nats://u:CANARY@h2:4222",
		"https://u:CANARY@h/hook",
		"https://h/hook?token=CANARY",
		"https://h/hook?api_key=CANARY",
	} {
		if !HasPassword(dsn) && !HasCredential(dsn) {
			t.Errorf("no secret was seen in %q", dsn)
		}
		if !strings.Contains(dsn, "nats") && !strings.Contains(dsn, "https") && !HasPassword(dsn) {
			t.Errorf("no password was seen in %q", dsn)
		}
	}
}

func TestDSNsWithoutAPasswordAreAccepted(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{
		"", "shop.db", "/var/lib/shop.db", "sqlite:shop.db", "sqlite:///var/lib/shop.db", "file:shop.db", "./a:b@c.db",
		"postgres://u@h/d", "postgres://u:@h/d", "postgres://h/d?sslmode=verify-full", "postgres:///d?host=/run/postgresql",
		"host=h user=u dbname=d", "host=h password=''", "service=shop", "postgres://h1:5432,h2:5432/d",
	} {
		if HasPassword(dsn) {
			t.Errorf("a password was seen in %q", dsn)
		}
	}
	for _, url := range []string{
		"nats://127.0.0.1:4222", "nats://a:4222,nats://b:4222", "tls://h", "https://h/hook", "https://h:8443/@scope/hook?x=1", "http://[::1]:8080/", "stdout:",
	} {
		if HasCredential(url) {
			t.Errorf("a secret was seen in %q", url)
		}
	}
	if !HasCredential("nats://TOKEN@h") {
		t.Error("a user alone, which is a token in NATS, was not seen")
	}
}

func TestRedactTakesSecretsOutOfText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`cannot parse "postgres://u:CANARY@h/d": no`, `unknown flag: --x=nats://CANARY@h`, "host=h password=CANARY x", "password: CANARY",
		"password='CANARY CANARY'", `{"token":"CANARY"}`, "the secret whsec_CANARY+/=x is", "https://h/?api_key=CANARY&x=1", "postgres://u:CAN@CANARY@h",
		"nats://u:CANARY@a,nats://u:CANARY@b",
	} {
		if got := Redact(text); strings.Contains(got, "CANARY") {
			t.Errorf("%q became %q", text, got)
		}
	}
	const plain = "store: the file /var/lib/shop.db cannot be read; see https://example.com/docs#tokens"
	if got := Redact(plain); got != plain {
		t.Errorf("a plain text became %q", got)
	}
}

func TestSecretsComeFromFilesOfOneLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if v, err := FromFile(write("good", "  s3cret\r\n")); err != nil || v != "s3cret" {
		t.Errorf("the secret is %q (%v), want it without white space around", v, err)
	}
	for path, want := range map[string]string{
		write("empty", "\n"):                        "is empty",
		write("lines", "CANARY\nCANARY\n"):          "more than one line",
		write("large", strings.Repeat("C", 70_000)): "holds more than",
		filepath.Join(dir, "missing"):               "cannot be read",
		dir:                                         "cannot be read",
	} {
		if _, err := FromFile(path); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: the error is %v, want one that says %q", path, err, want)
		}
	}
}

func TestSecretsComeFromTheEnvironment(t *testing.T) {
	t.Setenv("POSTBAG_TEST_SECRET", " s3cret\n")
	if v, err := FromEnv("POSTBAG_TEST_SECRET"); err != nil || v != "s3cret" {
		t.Errorf("the secret is %q (%v), want it without white space around", v, err)
	}
	if _, err := FromEnv("POSTBAG_TEST_NO_SUCH"); err == nil || !strings.Contains(err.Error(), "POSTBAG_TEST_NO_SUCH is not set") {
		t.Errorf("the error is %v, want one that names the variable", err)
	}
	if _, err := FromEnv("postgres://u:CANARY@h"); err == nil || strings.Contains(err.Error(), "CANARY") {
		t.Errorf("the error is %v, want one that does not quote what is no name", err)
	}
}
