package console_test

import (
	"testing"

	"github.com/postbag/postbag/console"
)

func rights(t *testing.T, texts ...string) (all console.Rights) {
	t.Helper()
	for _, text := range texts {
		g, err := console.ParseGrant(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, g)
	}
	return all
}

func TestAGrantHoldsOnlyWhereItSays(t *testing.T) {
	t.Parallel()
	all := rights(t, "viewer@shop/order*", "operator@shop/orders", "admin@test*", "payloads@shop/orders", "payloads@other")
	for _, one := range []struct {
		database, box string
		role          console.Role
		payloads      bool
	}{
		{"shop", "orders", console.Operator, true},
		{"shop", "order", console.Viewer, false},
		{"shop", "my-orders", console.Nobody, false},
		{"shop", "", console.Nobody, false},
		{"Shop", "orders", console.Nobody, false},
		{"shop2", "orders", console.Nobody, false},
		{"test", "any", console.Admin, false},
		{"test-2", "any", console.Admin, false},
		{"a-test", "any", console.Nobody, false},
		{"other", "any", console.Nobody, false},
	} {
		if got := all.In(one.database, one.box); got != one.role {
			t.Errorf("in %s/%s it is %v, want %v", one.database, one.box, got, one.role)
		}
		if got := all.SeePayloads(one.database, one.box); got != one.payloads {
			t.Errorf("payloads of %s/%s: %v", one.database, one.box, got)
		}
	}
	if all.Over("shop") != console.Nobody || all.Over("test") != console.Admin || all.Anywhere("shop") != console.Operator || all.Anywhere("other") != console.Nobody {
		t.Errorf("over all boxes of a database it is %v and %v, in some %v and %v", all.Over("shop"), all.Over("test"), all.Anywhere("shop"), all.Anywhere("other"))
	}
}

func TestAPatternMatchesAllOfAName(t *testing.T) {
	t.Parallel()
	for pattern, names := range map[string]map[string]bool{
		"*":     {"": true, "a": true, "a.b": true},
		"a*":    {"a": true, "ab": true, "ba": false},
		"*a":    {"a": true, "ba": true, "ab": false},
		"a*a":   {"aa": true, "aba": true, "a": false},
		"a*b*c": {"abc": true, "axbxc": true, "acb": false, "abcd": false},
		"*b*":   {"b": true, "abc": true, "ac": false},
		"a":     {"a": true, "ab": false, "": false},
	} {
		for name, want := range names {
			if got := rights(t, "viewer@"+pattern).Over(name) == console.Viewer; got != want {
				t.Errorf("%s matches %q: %v", pattern, name, got)
			}
		}
	}
}

func TestAGrantThatSaysNoRoleOrNoPlaceIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "root", "Viewer", "viewer@", "viewer@/a", "viewer@a/", "viewer@a/b/c", "viewer@a@b", "@a", "nobody", "viewer@a/b@c"} {
		if g, err := console.ParseGrant(text); err == nil {
			t.Errorf("%q gives %+v", text, g)
		}
	}
}
