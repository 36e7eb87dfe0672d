package console

import (
	"context"
	"fmt"
	"strings"

	"github.com/postbag/postbag/internal/redact"
)

// Role is what somebody may do. The zero value is nothing. Each role may do what those before it may.
type Role int

// The roles.
const (
	// Nobody may do nothing.
	Nobody Role = iota
	// Viewer sees everything but payloads, headers and the audit log.
	Viewer
	// Operator sees the audit log too, and may act on messages.
	Operator
	// Admin may do everything but see payloads and headers: those are a right of its own.
	Admin
)

// String returns the role as grants name it.
func (r Role) String() string {
	return [...]string{"nobody", "viewer", "operator", "admin"}[r]
}

// Grant gives rights in the databases and boxes that match. In a pattern, * stands for any text.
type Grant struct {
	// Role is what it lets do; Nobody if it is of payloads alone.
	Role Role
	// Payloads: it lets see payloads and headers of messages, where a role lets see the box.
	Payloads bool
	// Databases and Boxes are patterns of names. Empty: none.
	Databases, Boxes string
}

// ParseGrant reads ROLE, ROLE@DATABASE or ROLE@DATABASE/BOX. ROLE is viewer, operator, admin or payloads. A part that is left out is *.
func ParseGrant(text string) (Grant, error) {
	name, where, narrowed := strings.Cut(text, "@")
	g := Grant{Databases: "*", Boxes: "*"}
	switch name {
	case "viewer":
		g.Role = Viewer
	case "operator":
		g.Role = Operator
	case "admin":
		g.Role = Admin
	case "payloads":
		g.Payloads = true
	default:
		return Grant{}, fmt.Errorf("%.80q gives no role; write viewer, operator, admin or payloads, such as viewer@shop/orders*", text)
	}
	if !narrowed {
		return g, nil
	}
	var boxed bool
	g.Databases, g.Boxes, boxed = strings.Cut(where, "/")
	if !boxed {
		g.Boxes = "*"
	}
	if g.Databases == "" || g.Boxes == "" || strings.ContainsAny(g.Boxes, "/@") || strings.Contains(g.Databases, "@") {
		return Grant{}, fmt.Errorf("%.80q does not say where; write ROLE@DATABASE/BOX, with * for any text", text)
	}
	return g, nil
}

// Rights are all grants that somebody has.
type Rights []Grant

// In returns the highest role in a box.
func (r Rights) In(database, box string) Role {
	return r.highest(func(g Grant) bool { return redact.Matches(g.Databases, database) && redact.Matches(g.Boxes, box) })
}

// Over returns the highest role over all boxes of a database: also over those that are made later.
func (r Rights) Over(database string) Role {
	return r.highest(func(g Grant) bool { return redact.Matches(g.Databases, database) && g.Boxes == "*" })
}

// Anywhere returns the highest role in some box of a database. That box need not be there.
func (r Rights) Anywhere(database string) Role {
	return r.highest(func(g Grant) bool { return redact.Matches(g.Databases, database) })
}

// SeePayloads says whether payloads and headers of a box's messages may be seen.
func (r Rights) SeePayloads(database, box string) bool {
	for _, g := range r {
		if g.Payloads && redact.Matches(g.Databases, database) && redact.Matches(g.Boxes, box) {
			return r.In(database, box) >= Viewer
		}
	}
	return false
}

func (r Rights) highest(holds func(Grant) bool) Role {
	most := Nobody
	for _, g := range r {
		if g.Role > most && holds(g) {
			most = g.Role
		}
	}
	return most
}

// User is who asks.
type User struct {
	// Name is what pages and the audit log call them.
	Name string
	// Rights are theirs.
	Rights Rights
	// Session: they can log out.
	Session bool
	// Again says who they are now, with the rights that they have now; nil: they are no longer logged in. It is called before each
	// event of a stream, and does not count as a request of theirs. Without it a stream keeps the rights of its beginning.
	Again func() *User
}

type userKey struct{}

// WithUser returns a context of a request by a user. Package login calls it; so does a login of your own.
func WithUser(ctx context.Context, u *User) context.Context {
	return context.WithValue(ctx, userKey{}, u)
}

// userOf returns who asks; nil: nobody logged in.
func userOf(ctx context.Context) *User {
	u, _ := ctx.Value(userKey{}).(*User)
	return u
}
