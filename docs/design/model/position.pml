/*
 * How committed messages are found: a position of transaction ids, each with a
 * low bound of seq, as the PostgreSQL store keeps it. What becomes of the messages
 * is a model of its own (delivery.pml); here a row is "seen" when a read brings it.
 *
 * A writer gets its transaction id, then draws a seq, then commits or rolls back:
 * three steps, between which anything may happen. A snapshot knows what runs below
 * xmax, and xmax is one more than the highest id that *ended*. The relay reads
 * windows page by page, settles, crashes, and begins again at what it settled. The
 * server crashes, and gives out again the ids that were not durable.
 * A macro M_... compiles one mutant of the protocol in. README.md has the bounds,
 * the mutants and how to read a trace.
 */

#ifndef WRITERS
#define WRITERS 3
#endif
#ifndef SETTLES
#define SETTLES 2     /* settlements, at most */
#endif
#ifndef PAGE
#define PAGE 2        /* rows that a read brings, at most */
#endif
#ifndef CRASHES
#define CRASHES 1     /* of the relay */
#endif
#ifndef RESTARTS
#define RESTARTS 0    /* of the server, by a crash */
#endif
#ifndef ABORTS
#define ABORTS 1      /* transactions that are rolled back */
#endif
#ifndef STRANGER
#define STRANGER 0    /* 1: a transaction that writes elsewhere is open from the start, for ever */
#endif

/* A promise: when it is broken the trace ends with these words. */
#define MUST(c, words) if :: (c) :: else -> printf(words); assert(c) fi
#define BIT(i) (1<<(i))

/* The server. Transaction ids are 1 to X-1. */
#define X (WRITERS + SETTLES + STRANGER + 1)
#define UNUSED 0
#define RUNS 1
#define COMMITTED 2
#define ABORTED 3
byte st[X];                /* what became of each transaction id */
byte nextx = 1, ended;     /* the next id; the highest that ended */
byte last;                 /* the last seq given out */
byte row[WRITERS + 1];     /* by seq: the id of the transaction that wrote it */

/* A snapshot with the bounds of what it does not show: the ids that run in it write
   above low, those at xmax or above write above floor. */
typedef snapshot { byte xmax, busy, floor, low[X] }
/* A position: all that A shows is passed; inside a window also what B shows up to after. */
typedef position { snapshot a, b; byte after; bool window }
position kept;             /* in the store */

/* For the properties and the bounds only. */
byte seen;                 /* seqs, as a mask */
byte older[WRITERS + 1];   /* by seq: the seqs that had committed before its transaction began */
byte crashes, restarts, aborts, settles, over;
byte begun, gone;          /* writers; those whose transaction a crash of the server took */

#define SHOWS(v, s) (row[s] != 0 && row[s] < v.xmax && !(v.busy & BIT(row[s])) && st[row[s]] == COMMITTED)

inline finish(x, how) {
  st[x] = how;
  if :: x > ended -> ended = x :: else fi
}

inline begin(x) {
  x = nextx; nextx++; st[x] = RUNS
}

inline before(mask) {
  mask = 0; i = 1;
  do
  :: i > WRITERS -> break
  :: i <= WRITERS && row[i] && st[row[i]] == COMMITTED -> mask = mask | BIT(i); i++
  :: else -> i++
  od;
  i = 0
}

proctype Writer(byte w) {
  byte x, s, past, i;
#ifdef M_SEQ_BEFORE_TRANSACTION_ID
  d_step { before(past); begun = begun | BIT(w);
    last++; s = last; printf("writer %d: draws seq %d\n", w, s) }
  atomic { begin(x); row[s] = x; older[s] = past; past = 0;
    printf("writer %d: gets transaction id %d\n", w, x) }
#else
  d_step { begin(x); before(past); begun = begun | BIT(w);
    printf("writer %d: begins, with transaction id %d\n", w, x) }
  atomic {
    if
    :: gone & BIT(w)
    :: else -> last++; s = last; row[s] = x; older[s] = past;
      printf("writer %d: draws seq %d\n", w, s)
    fi;
    past = 0 }
#endif
  atomic {
    if
    :: gone & BIT(w)
    :: !(gone & BIT(w)) -> finish(x, COMMITTED); printf("writer %d: commits seq %d\n", w, s)
    :: !(gone & BIT(w)) && aborts < ABORTS -> aborts++; finish(x, ABORTED);
      printf("writer %d: rolls back seq %d\n", w, s)
    fi;
    x = 0; s = 0; over++; begun = begun & ~BIT(w) }
}

/* A crash of the server ends what runs. Ids beyond the last durable one are given out
   again; nothing of them is left. */
proctype Server() {
  byte i;
end:
  do
  :: d_step { restarts < RESTARTS ->
      restarts++; gone = gone | begun;
      nextx = X;
      do
      :: nextx == 1 -> break
      :: nextx > 1 && st[nextx - 1] == COMMITTED -> break
      :: else -> nextx--; st[nextx] = UNUSED
      od;
      ended = nextx - 1;
      i = 1;
      do
      :: i == nextx -> break
      :: i < nextx && st[i] == RUNS -> st[i] = ABORTED; i++
      :: else -> i++
      od;
      i = 1;
      do
      :: i > WRITERS -> break
      :: i <= WRITERS && row[i] >= nextx -> row[i] = 0; i++
      :: else -> i++
      od;
      i = 0;
      printf("server: crashes; the next transaction id is %d\n", nextx) }
  od
}

/* The bound that the pairs give to id x: the highest S that was read before an id below x
   was assigned. */
inline bound(id, best) {
  i = 0;
  do
#if defined(M_LOW_BOUND_FROM_A_LATER_SETTLEMENT)
  :: i >= X -> break
#else
  :: i >= id || i >= X -> break
#endif
#ifdef M_LOW_BOUND_FROM_A_LATER_SETTLEMENT
  :: i < X && pair[i] > best -> best = pair[i]; i++
#else
  :: i < id && i < X && pair[i] > best -> best = pair[i]; i++
#endif
  :: else -> i++
  od;
  i = 0
}

/* The snapshot of a statement that is run now, with the bounds that go with it. */
inline look() {
  x = ended + 1; n = p.a.floor;
  bound(x, n);
  p.b.xmax = x; p.b.busy = 0; p.b.floor = n; n = 0;
#ifdef M_BOUND_READ_BEFORE_THE_SNAPSHOT
  if :: S > p.b.floor -> p.b.floor = S :: else fi;
#endif
  x = 1;
  do
  :: x == X -> break
  :: x < X && x < p.b.xmax && st[x] == RUNS ->
    p.b.busy = p.b.busy | BIT(x);
    if
    :: p.a.busy & BIT(x) -> p.b.low[x] = p.a.low[x]
    :: else -> n = p.a.floor; bound(x, n); p.b.low[x] = n; n = 0
    fi;
    x++
  :: else -> p.b.low[x] = 0; x++
  od;
  x = 0;
#ifdef M_WAITS_FOR_THE_OLDEST
  x = 1;
  do :: x >= p.b.xmax -> break :: x < p.b.xmax && (p.b.busy & BIT(x)) -> break :: else -> x++ od;
  p.b.xmax = x; p.b.busy = 0; x = 0;
#endif
}

/* From where a window is read: the lowest bound of what may appear in it. */
inline start() {
  p.after = p.a.floor; x = 1;
  do
  :: x == X -> break
  :: x < X && (p.a.busy & BIT(x)) && !(p.b.busy & BIT(x)) && p.a.low[x] < p.after -> p.after = p.a.low[x]; x++
  :: else -> x++
  od;
  x = 0
}

#define NEW(s) (row[s] >= p.a.xmax || (p.a.busy & BIT(row[s])))
#ifdef M_LATER_PAGES_BY_THEIR_OWN_SNAPSHOT
#define PAGED(s) (row[s] && st[row[s]] == COMMITTED)
#else
#define PAGED(s) SHOWS(p.b, s)
#endif

inline see(s) {
  MUST((older[s] & ~seen) == 0, "BROKEN: P3, seen before one that had committed before it began\n");
  MUST((mine & BIT(s)) == 0, "BROKEN: P4, read twice without a crash\n");
  mine = mine | BIT(s); seen = seen | BIT(s);
  printf("relay: sees seq %d\n", s)
}

/* Reads a page of the window. */
inline page() {
  n = 0; s = p.after + 1;
  do
  :: s > WRITERS || n == PAGE -> break
  :: s <= WRITERS && n < PAGE && NEW(s) && PAGED(s) -> see(s); n++; p.after = s; s++
  :: else -> s++
  od;
#ifdef M_WINDOW_ENDS_WITH_A_FULL_PAGE
  n = 0;
#endif
  if
  :: n == PAGE -> p.window = true
  :: else -> pass()
  fi;
  n = 0; s = 0
}

/* The window's end: what B shows is passed. */
inline pass() {
  s = 1;
  do
  :: s > WRITERS -> break
  :: else -> MUST(!SHOWS(p.b, s) || (seen & BIT(s)), "BROKEN: P1, the position is beyond a committed row that was never seen\n"); s++
  od;
  copy(p.b, p.a);
#ifdef M_LATE_ROWS_FORGOTTEN
  p.a.busy = 0;
#endif
  zero(p.b);
  p.window = false; p.after = 0
}

inline copy(from, to) {
  to.xmax = from.xmax; to.busy = from.busy; to.floor = from.floor; x = 0;
  do :: x == X -> break :: x < X -> to.low[x] = from.low[x]; x++ od;
  x = 0
}

inline zero(v) {
  v.xmax = 0; v.busy = 0; v.floor = 0; x = 0;
  do :: x == X -> break :: x < X -> v.low[x] = 0; x++ od;
  x = 0
}

inline reload() {
  copy(kept.a, p.a); copy(kept.b, p.b); p.after = kept.after; p.window = kept.window;
  i = 0;
  do :: i == X -> break :: i < X -> pair[i] = 0; i++ od;
  i = 0; mine = 0; S = 0
}

#ifdef M_KEEPS_ITS_SNAPSHOT_OVER_A_CRASH_OF_THE_SERVER
#define SAMELIFE true
#else
#define SAMELIFE (life == restarts)
#endif

proctype Relay() {
  position p;
  byte pair[X];            /* by transaction id: the S that was read before it was assigned */
  byte S, y, life, mine;
  byte i, x, s, n;
  p.a.xmax = 1;
read:
  do
#if defined(M_SEQ_IS_THE_CURSOR) || defined(M_GAP_SKIPPED_AFTER_TIME_OUT)
  :: atomic { s = p.after + 1;
      if
      :: s <= last && row[s] && st[row[s]] == COMMITTED -> see(s); p.after = s
      :: s <= last && !(row[s] && st[row[s]] == COMMITTED) ->
#ifdef M_SEQ_IS_THE_CURSOR
        do
        :: s > last -> break
        :: s <= last && row[s] && st[row[s]] == COMMITTED -> see(s); p.after = s; break
        :: else -> s++
        od
#else
        if
        :: st[row[s]] == ABORTED -> p.after = s
        :: true
        :: printf("relay: has waited long enough for seq %d\n", s); p.after = s
        fi
#endif
      :: else
      fi;
      s = 1;
      do
      :: s > WRITERS -> break
      :: else -> MUST(s > p.after || !row[s] || st[row[s]] != COMMITTED || (seen & BIT(s)), "BROKEN: P1, the position is beyond a committed row that was never seen\n"); s++
      od;
      s = 0 }
#else
  :: atomic { !p.window && SAMELIFE ->
      d_step { look(); start(); page() } }
  :: atomic { p.window && SAMELIFE -> d_step { page() } }
#endif
#ifdef M_BOUND_READ_BEFORE_THE_SNAPSHOT
  :: atomic { !p.window && S != last -> S = last; printf("relay: reads the last seq, %d\n", S) }
#endif
  :: atomic { settles < SETTLES && SAMELIFE -> settles++;
#ifdef M_LAST_SEQ_READ_TOO_HIGH
      S = last + 1;
#else
      S = last;
#endif
      printf("relay: settles: the last seq is %d\n", S) };
    goto settle
  :: d_step { !SAMELIFE -> life = restarts; reload();
      printf("relay: learns that the server has crashed, and begins at what was settled\n") }
  :: d_step { crashes < CRASHES -> crashes++; reload();
      printf("relay: crashes, and begins at what was settled\n") }
  od;
settle:
#ifdef M_BOUND_OF_A_SETTLEMENT_THAT_HIT_NO_ROW
  atomic { pair[0] = S; S = 0; printf("relay: the settlement hits no row\n"); goto read }
#else
  atomic {
    if
    :: SAMELIFE -> begin(y); printf("relay: settles: its transaction id is %d\n", y)
    :: else -> S = 0; goto read
    fi };
  atomic {
    if
    :: life == restarts ->
      d_step { copy(p.a, kept.a); copy(p.b, kept.b) }; kept.after = p.after; kept.window = p.window;
      finish(y, COMMITTED); pair[y] = S; S = 0; y = 0;
      printf("relay: has settled\n"); goto read
    :: life != restarts -> S = 0; y = 0; goto read
    :: crashes < CRASHES && life == restarts -> crashes++; finish(y, ABORTED); y = 0; reload();
      printf("relay: crashes before its settlement commits\n"); goto read
    fi }
#endif
}

init {
  atomic {
    kept.a.xmax = 1;
#if STRANGER
    nextx = 2; st[1] = RUNS;
#endif
    run Server(); run Relay();
    run Writer(0); run Writer(1);
#if WRITERS > 2
    run Writer(2);
#endif
#if WRITERS > 3
    run Writer(3);
#endif
  }
}

#define SEEN(s) (!row[s] || st[row[s]] != COMMITTED || (seen & BIT(s)))
#ifdef LIVENESS
ltl live { <> [] (over == WRITERS && SEEN(1) && SEEN(2) && (WRITERS < 3 || SEEN(3))) }
#endif
