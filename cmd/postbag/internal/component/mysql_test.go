package component

import (
	"strings"
	"testing"
)

func TestDSNsOfMySQLAreReadInEveryForm(t *testing.T) {
	t.Parallel()
	for dsn, want := range map[string]string{
		"mysql://app:s3cret@db/shop":                   "app:s3cret@tcp(db:3306)/shop",
		"mariadb://app@db:3307/shop":                   "app@tcp(db:3307)/shop",
		"mysql://db/shop?tls=true":                     "tcp(db:3306)/shop?tls=true",
		"MySQL://a%40b:p%2Fq@[::1]:3306/shop/":         "a@b:p/q@tcp([::1]:3306)/shop",
		"app:secret@tcp(db:3306)/shop?readTimeout=5s":  "app:secret@tcp(db:3306)/shop?readTimeout=5s",
		"app:a://b@unix(/run/mysqld/mysqld.sock)/shop": "app:a://b@unix(/run/mysqld/mysqld.sock)/shop",
	} {
		got, err := driverDSN(dsn)
		if err != nil || strings.TrimSuffix(got, "?") != want {
			t.Errorf("%s is %q (%v), want %q", dsn, got, err, want)
		}
		if kind, mistake := Kinds().StoreKind("", dsn); mistake != "" || kind != "mysql" && kind != "mariadb" {
			t.Errorf("%s is of kind %q (%s)", dsn, kind, mistake)
		}
	}
	for _, dsn := range []string{"mysql://", "mysql://app:CANARY@db", "mysql://app:CANARY@db/", "mysql://app:CANARY@ho st/shop", "mysql://db/a/b"} {
		if got, err := driverDSN(dsn); err == nil || strings.Contains(err.Error(), "CANARY") || !strings.Contains(err.Error(), "write it as") {
			t.Errorf("%s is %q (%v)", dsn, got, err)
		}
	}
}
