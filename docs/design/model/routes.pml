/*
 * Routes, and filters that change (record 088). A route is a subscription of its own
 * with a filter, and a message is done when all its routes are. What is looked at is
 * what becomes of each message on each route, and not the sequence of deliveries.
 *
 * An operator changes the filter of a route at any moment. A read judges by the filter
 * of its moment, and the settlement tallies by the verdict of that read. Housekeeping
 * compares the tally with the position, and deletes what all routes have passed.
 *
 * Sets of messages are bit masks: message m is bit 1<<m. A macro M_... compiles one
 * mutant in.
 */

#ifndef N
#define N 2          /* messages */
#endif
#define ROUTES 2     /* each with a filter, a position and a ledger */
/* How often each fault may come in one run. */
#ifndef EXPIRIES
#define EXPIRIES 1   /* an owner stops for longer than its lease, and goes on later */
#endif
#ifndef CRASHES
#define CRASHES 1    /* a relay forgets all, and starts anew */
#endif
#ifndef LOST
#define LOST 1       /* calls that are accepted, and whose answer is lost */
#endif
#ifndef CHANGES
#define CHANGES 2    /* of a filter */
#endif

#define ALL ((1<<N)-1)
#define LOWEST(x) ((x) & (256 - (x)))
#define MUST(c, words) if :: (c) :: else -> printf(words); assert(c) fi

/* The log, and the filter of each route: the messages that it lets through. */
byte committed, deleted;
byte filter[ROUTES];
byte ever[ROUTES], always[ROUTES]; /* what it let through at some time, and all the time */

/* What the store has of each route. */
byte passed[ROUTES], token[ROUTES], version[ROUTES];
byte sent[ROUTES], filtered[ROUTES]; /* the ledger: how many were delivered, and filtered */
byte holder[ROUTES];               /* relay + 1 */
bool valid[ROUTES];
byte inlog[ROUTES];                /* what the destination of a route has */

byte expiries, crashes, lost, changes;

#define COUNT(x) (((x)&1)+(((x)>>1)&1)+(((x)>>2)&1)+(((x)>>3)&1))

proctype Producer() {
end:
  do
  :: atomic { committed != ALL -> committed = (committed << 1) | 1; printf("producer: messages %x are committed\n", committed) }
  od
}

/* The operator widens or narrows the filter of a route. */
proctype Operator() {
  byte r;
end:
  do
  :: atomic { changes < CHANGES ->
      changes++;
      if :: r = 0 :: r = 1 fi;
      if :: filter[r] = 0 :: filter[r] = ALL :: filter[r] = 1 fi;
      ever[r] = ever[r] | filter[r]; always[r] = always[r] & filter[r];
      printf("store: the filter of route %d lets %x through\n", r, filter[r]);
      r = 0
    }
  od
}

/* Housekeeping deletes what all routes are done with. */
proctype Housekeeping() {
end:
  do
#ifdef M_DELETED_WHEN_ONE_ROUTE_IS_DONE
  :: atomic { ((passed[0] | passed[1]) & ~deleted) ->
      deleted = passed[0] | passed[1];
#else
  :: atomic { (passed[0] & passed[1] & ~deleted) ->
      deleted = passed[0] & passed[1];
#endif
      printf("store: deletes %x\n", deleted);
      MUST((deleted & ~(passed[0] & passed[1])) == 0, "BROKEN: deleted, and a route is not done with it\n")
    }
  od
}

/* The ledger of a route counts what its position has passed. */
#define AGREES(r) (sent[r] + filtered[r] == COUNT(passed[r]))

inline check(r) {
  MUST(AGREES(r), "BROKEN: the ledger of a route does not agree with its position\n");
  MUST(sent[r] <= COUNT(inlog[r] & passed[r]), "BROKEN: the ledger counts as delivered what is not in the destination\n");
  MUST((passed[r] & always[r] & ~inlog[r]) == 0, "BROKEN: P1, a route passed what its filter let through all the time\n");
  MUST((inlog[r] & ~ever[r]) == 0, "BROKEN: P2, a route has what its filter never let through\n")
}

inline forget() { own = false; tok = 0; ver = 0; pass = 0; win = 0; no = 0; done = 0 }

/* A relay works one route. Two relays want each. */
proctype Relay(byte me; byte r) {
  bool own;
  byte tok, ver, pass;
  byte win;           /* read, and not passed */
  byte no;            /* of it, what the filter of the read refused */
  byte done;          /* accepted */
  byte m;
end:
  do
  :: atomic { !own && (holder[r] == 0 || !valid[r]) && (token[r] > 0 || me == 0) ->
      token[r]++; holder[r] = me + 1; valid[r] = true;
      own = true; tok = token[r]; ver = version[r]; pass = passed[r];
      printf("relay %d: takes route %d, position %x\n", me, r, pass) }
  :: atomic { own && (committed & ~(deleted | pass | win)) ->
      m = LOWEST(committed & ~(deleted | pass | win)); win = win | m;
      if
#ifdef M_ALL_ROUTES_BY_ONE_FILTER
      :: (m & filter[0]) == 0 -> no = no | m; printf("relay %d: reads %x, which the filter of route %d refuses\n", me, m, r)
#else
      :: (m & filter[r]) == 0 -> no = no | m; printf("relay %d: reads %x, which the filter of route %d refuses\n", me, m, r)
#endif
      :: else -> printf("relay %d: reads %x for route %d\n", me, m, r)
      fi;
      m = 0 }
  :: atomic { own && (win & ~(no | done)) ->
      m = LOWEST(win & ~(no | done));
      inlog[r] = inlog[r] | m; check(r);
      if
      :: done = done | m; printf("broker: accepts %x of route %d from relay %d\n", m, r, me)
      :: lost < LOST -> lost++; printf("broker: accepts %x of route %d from relay %d, and the answer is lost\n", m, r, me)
      fi;
      m = 0 }
  /* Settling. The verdict rides with each message, from its read to its settlement. */
  :: atomic { own && (LOWEST(win) & (no | done)) ->
      m = LOWEST(win);
      if
#ifdef M_ROUTE_SETTLED_WITHOUT_TOKEN
      :: true ->
#else
      :: tok == token[r] && ver == version[r] ->
#endif
        passed[r] = passed[r] | m; version[r]++; ver = version[r]; pass = passed[r];
#ifdef M_TALLIED_BY_THE_FILTER_OF_NOW
        if
        :: m & filter[r] -> sent[r]++
        :: else -> filtered[r]++
        fi;
#else
        if
        :: m & no -> filtered[r]++
        :: else -> sent[r]++
        fi;
#endif
        printf("relay %d: settles %x of route %d\n", me, m, r);
        win = win & ~m; no = no & ~m; done = done & ~m;
        check(r)
      :: else -> printf("relay %d: learns that route %d is not its own\n", me, r); forget()
      fi;
      m = 0 }
  /* What goes wrong. */
  :: atomic { own && valid[r] && holder[r] == me + 1 && expiries < EXPIRIES ->
      expiries++; valid[r] = false; printf("store: the lease of relay %d for route %d is over\n", me, r) }
  :: atomic { own && crashes < CRASHES ->
      crashes++; printf("relay %d: crashes\n", me); forget();
      if :: holder[r] == me + 1 -> valid[r] = false :: else fi }
  od
}

init {
  atomic {
    filter[0] = ALL; filter[1] = 1;
    ever[0] = ALL; ever[1] = 1; always[0] = ALL; always[1] = 1;
    run Producer(); run Operator(); run Housekeeping();
    run Relay(0, 0); run Relay(1, 0); run Relay(0, 1); run Relay(1, 1)
  }
}

/* Whatever happens, once the faults are used up each route is done with each message, and then it is deleted. */
#define DONE (passed[0] == ALL && passed[1] == ALL && deleted == ALL && AGREES(0) && AGREES(1))
#ifdef LIVENESS
active proctype Time() { bit tick; do :: tick = 1 - tick od } /* goes on when nothing else does */
ltl live { <> [] DONE }
#endif
