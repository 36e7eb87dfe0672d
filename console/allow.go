package console

import (
	"net/http"
	"slices"
	"strings"

	"github.com/postbag/postbag/internal/operations"
)

// everything are the rights of those who ask a console without a login.
var everything = Rights{{Role: Admin, Payloads: true, Databases: "*", Boxes: "*"}}

// forbiddenError says what somebody may not do.
type forbiddenError struct{ text string }

func (e *forbiddenError) Error() string { return e.text }

// isStranger says whether the one who asks must log in first.
func (c *console) isStranger(r *route, req *http.Request) bool {
	return c.stranger != nil && !r.open && userOf(req.Context()) == nil
}

// rights are those of the one who asks.
func (c *console) rights(r *http.Request) Rights {
	if u := userOf(r.Context()); u != nil {
		return u.Rights
	}
	if c.stranger != nil {
		return nil
	}
	return everything
}

// allow refuses what the one who asks has not the role for. Of what they may not see, it says that it is not there.
func (c *console) allow(r *route, req *http.Request) error {
	if r.open {
		return nil
	}
	if r.method == http.MethodPost && !c.commands {
		return &forbiddenError{"this console takes no commands; start it with --commands, or give them on the command line, such as with postbag messages retry"}
	}
	rights, database, box := c.rights(req), req.PathValue("database"), req.PathValue("box")
	var role Role
	switch {
	case !strings.Contains(r.path, "{database}"):
		role = rights.highest(func(Grant) bool { return true })
	case rights.Anywhere(database) < Viewer:
		return errNoDatabase
	case r.partly:
		role = rights.Anywhere(database)
	case !strings.Contains(r.path, "{box}"):
		role = rights.Over(database)
	default:
		if _, err := c.database(req); err != nil {
			return err
		}
		if role = rights.In(database, box); role < Viewer {
			return errNoBox
		}
	}
	if role < r.needs || r.needs == Nobody {
		return &forbiddenError{"you have not the rights for this; it needs the role " + r.needs.String() + " " + scope(r) + ", in the access file"}
	}
	return nil
}

// scope says where a route needs its role.
func scope(r *route) string {
	switch {
	case strings.Contains(r.path, "{box}"):
		return "in this box"
	case r.partly:
		return "in some box of the database"
	case strings.Contains(r.path, "{database}"):
		return "over all boxes of the database"
	}
	return "in some box"
}

// visible leaves in a status what may be seen: boxes, and what is held of them. What is of no box is for those who see all boxes.
func (r Rights) visible(database string, s *operations.Status) *operations.Status {
	if r.Over(database) >= Viewer {
		return s
	}
	s.Boxes = slices.DeleteFunc(s.Boxes, func(b operations.Box) bool { return r.In(database, b.Name) < Viewer })
	s.Pauses = slices.DeleteFunc(s.Pauses, func(p operations.Pause) bool { return p.Box == "" || r.In(database, p.Box) < Viewer })
	return s
}

// reason is the text of a database's error. It may name any box, so only those who may see all boxes see it.
func (r Rights) reason(database, text string) string {
	if r.Over(database) >= Viewer {
		return text
	}
	return "the database cannot be read; ask somebody who may see all of its boxes"
}
