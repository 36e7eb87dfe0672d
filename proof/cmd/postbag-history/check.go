package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/postbag/postbag/proof/history"
	"github.com/postbag/postbag/proof/internal/flags"
)

// What the process ends with.
const (
	exitHeld   = 0
	exitBroken = 1
	exitUse    = 2
)

const usage = `postbag-history check [flags] FILE...   judge a history; check -h for the flags
postbag-history show FILE...            print its records as lines of JSON
`

// run is the program.
func run(args []string, out, diag io.Writer) (code int, err error) {
	command := ""
	if len(args) > 0 {
		command = args[0]
	}
	switch command {
	case "check":
		err = check(args[1:], out)
	case "show":
		err = show(args[1:], out)
	case "-h", "-help", "--help", "help":
		err = flag.ErrHelp
		_, _ = io.WriteString(out, usage)
	default:
		_, _ = io.WriteString(diag, usage)
		err = errors.New("postbag-history: write check or show")
		if command != "" {
			err = fmt.Errorf("postbag-history: %q is none of its commands; write check or show", command)
		}
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitHeld, nil
	case errors.Is(err, errBroken):
		return exitBroken, nil
	}
	return exitUse, err
}

// errBroken says that a promise was broken, which the report has told.
var errBroken = errors.New("postbag-history: a promise was broken")

// request is what check is asked for.
type request struct {
	history.Options
	history.Space

	json  bool
	files []string
}

func check(args []string, out io.Writer) error {
	q, err := parse(args, out)
	if err != nil {
		return err
	}
	report, err := history.CheckFiles(q.files, q.Options, q.Space)
	if err != nil {
		return err
	}
	if q.json {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		err = e.Encode(report)
	} else {
		_, err = report.WriteTo(out)
	}
	switch {
	case err != nil:
		return fmt.Errorf("postbag-history: print the report: %w", err)
	case report.Of(history.Sound).Seen == 0 && report.Of(history.Phantom).Seen+report.Of(history.Applied).Seen > 0:
		return errors.New("postbag-history: check: something was delivered or applied, and nobody published anything; give the files of the producers too")
	case !report.Held():
		return errBroken
	case !judged(report):
		return errors.New("postbag-history: check: there is nothing to judge in these files; give those of all recorders of a run")
	}
	return nil
}

// judged says whether anything put a promise to the test.
func judged(r *history.Report) bool {
	return slices.ContainsFunc(r.Verdicts[:], func(v history.Verdict) bool { return v.Seen > 0 })
}

func parse(args []string, help io.Writer) (*request, error) {
	q := &request{}
	f := flag.NewFlagSet("postbag-history check", flag.ContinueOnError)
	f.BoolVar(&q.json, "json", false, "print the report as JSON")
	f.StringVar(&q.Subscription, "subscription", "", "judge this subscription alone")
	f.IntVar(&q.InFlight, "in-flight", 0, "how many messages a fault may cause to be sent again, if it does not say (0: 1,000)")
	f.DurationVar(&q.Slack, "slack", 0, "how long after its end a fault still explains duplicates")
	f.BoolVar(&q.ExactlyOnce, "exactly-once", false, "no fault explains a duplicate")
	f.TextVar(&q.Effects, "effects", history.NoEffects, "what is promised of the effects of messages: none, if not all were recorded; once; or order, once and in order by key")
	f.BoolVar(&q.Unread, "unread", false, "nobody recorded what lies in the broker: of messages only the effects are judged")
	f.BoolVar(&q.Unordered, "unordered", false, "no order is promised")
	f.BoolVar(&q.Skip, "skip", false, "a key goes on without a message that was refused")
	f.BoolVar(&q.MayPend, "pending", false, "messages may be waiting in the store")
	f.DurationVar(&q.Ended, "ended", 0, "when the run was judged: scheduled messages due later may be waiting (0: all may)")
	f.DurationVar(&q.Takeover, "takeover", 0, "the longest takeover of a dead relay's shards (0: not judged)")
	f.DurationVar(&q.Resume, "resume", 0, "the longest time without deliveries after a fault (0: not judged)")
	f.DurationVar(&q.OpenTransaction, "open-transaction", 0, "the longest that a relay's transaction may be open during network I/O")
	f.DurationVar(&q.LockWait, "lock-wait", 0, "the longest that a producer may wait for a relay's lock")
	f.IntVar(&q.Examples, "examples", 0, "how many breaches of a promise are shown (0: 10)")
	f.StringVar(&q.Dir, "dir", "", "where to sort, in temporary files of about four times the history's size (empty: the system's place)")
	mebibytes := f.Int64("memory", 0, "what it may use, in MiB (0: 256)")
	if err := flags.ParseFiles(f, args, help); err != nil {
		return nil, err
	}
	if *mebibytes < 0 || *mebibytes > math.MaxInt64>>20 {
		return nil, fmt.Errorf("postbag-history check: -memory %d is no size; it is in MiB, and 0 is 256", *mebibytes)
	}
	q.Memory, q.files = *mebibytes<<20, f.Args()
	return q, named(f)
}

// named says whether the names behind the flags can be those of files.
func named(f *flag.FlagSet) error {
	if f.NArg() == 0 {
		return fmt.Errorf("%s: no file; name those that the recorders wrote", f.Name())
	}
	for _, name := range f.Args() {
		if _, err := os.Stat(name); err != nil && strings.HasPrefix(name, "-") {
			return fmt.Errorf("%s: %q stands behind the first file, and is none; write flags before the files", f.Name(), name)
		}
	}
	return nil
}

// show prints the records of files.
func show(args []string, out io.Writer) error {
	f := flag.NewFlagSet("postbag-history show", flag.ContinueOnError)
	f.Usage = func() { _, _ = io.WriteString(f.Output(), usage) }
	if err := flags.ParseFiles(f, args, out); err != nil {
		return err
	}
	if err := named(f); err != nil {
		return err
	}
	p := &printer{to: json.NewEncoder(out)}
	for _, name := range f.Args() {
		wasTorn, err := history.ReadFile(name, p)
		if err != nil || p.err != nil {
			return errors.Join(err, p.err)
		}
		if wasTorn {
			p.print("torn", name)
		}
	}
	return p.err
}

// printer is a recorder that prints.
type printer struct {
	to  *json.Encoder
	err error
}

func (p *printer) print(kind string, record any) {
	if p.err == nil {
		p.err = p.to.Encode(map[string]any{kind: record})
	}
}

func (p *printer) Intend(r history.Intent)    { p.print("intent", r) }
func (p *printer) End(r history.Outcome)      { p.print("outcome", r) }
func (p *printer) Deliver(r history.Delivery) { p.print("delivery", r) }
func (p *printer) Apply(r history.Effect)     { p.print("effect", r) }
func (p *printer) Refuse(r history.Refusal)   { p.print("refusal", r) }
func (p *printer) Hold(r history.Stored)      { p.print("stored", r) }
func (p *printer) Order(r history.Command)    { p.print("command", r) }
func (p *printer) Break(r history.Fault)      { p.print("fault", r) }
func (p *printer) Wait(r history.Gap)         { p.print("gap", r) }
func (p *printer) Look(r history.Watch)       { p.print("watch", r) }
