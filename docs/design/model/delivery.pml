/*
 * The delivery protocol: leases, windows, outcomes, the parking lot, settlements.
 * What finds committed messages is a model of its own (position.pml); here a read
 * brings what is committed and not passed, in seq order.
 *
 * Sets of messages are bit masks: message m is bit 1<<m. The messages in KEYA are
 * of one key, all others of a second. A macro M_... compiles one mutant of the
 * protocol in. README.md has the bounds, the mutants and how to read a trace.
 */

#ifndef N
#define N 3          /* messages */
#endif
#ifndef KEYA
#define KEYA 5       /* messages of the first key */
#endif
#ifndef INFLIGHT
#define INFLIGHT 2   /* sent and not settled, at most: the window of P4 */
#endif
#ifndef PAGE
#define PAGE 2       /* messages that a read brings, at most */
#endif
/* How often each fault may come in one run. */
#ifndef EXPIRIES
#define EXPIRIES 1   /* an owner stops for longer than its lease, and goes on later */
#endif
#ifndef CRASHES
#define CRASHES 1    /* a relay forgets all, and starts anew */
#endif
#ifndef LOST
#define LOST 1       /* calls that end without an answer, accepted or not, or accepted later */
#endif
#ifndef REJECTS
#define REJECTS 1    /* messages that the broker rejects */
#endif
#ifndef HUNG
#define HUNG 1       /* settlements that the relay repeats, and whose first copy arrives late */
#endif
#ifndef ABORTS
#define ABORTS 1     /* transactions that are rolled back */
#endif

#define ALL ((1<<N)-1)
#define BIT(m) (1<<(m))
#define KEYOF(m) (((KEYA>>(m))&1) -> KEYA : (ALL&~KEYA))
#define BEFORE(m) (KEYOF(m) & (BIT(m)-1))
#define COUNT(x) (((x)&1)+(((x)>>1)&1)+(((x)>>2)&1)+(((x)>>3)&1))
#define PICK(m,x) if :: (x)&1 -> m = 0 :: (x)&2 -> m = 1 :: (x)&4 -> m = 2 :: (x)&8 -> m = 3 fi

/* A promise: when it is broken the trace ends with these words. */
#define MUST(c, words) if :: (c) :: else -> printf(words); assert(c) fi

/* The producers' truth. */
byte committed, aborted;

/* The store. */
byte passed;              /* the position, as the set of messages that it is beyond */
byte parked;              /* the parking lot */
byte token, version;      /* grows at each change of hands; at each settlement */
byte holder;              /* relay + 1 */
bool valid;               /* the holder's lease, by the store's clock */

/* Settlements on their way to the store: one a relay, and one that was given up. */
#define NONE 0
#define UNDERWAY 1
#define APPLIED 2
#define REFUSED 3
typedef settlement { byte state, tok, ver, pass, park, unpark; bool half }
settlement rq[2], ghost;

/* The network and the broker. */
byte net[2];              /* sent by a relay, not yet with the broker */
byte adrift;              /* copies whose sender gave up or died */
byte acc[2], rej[2], unk[2]; /* answers: accepted, rejected, none */
byte inlog;               /* what the broker has */

/* For the properties and the bounds only. */
byte dups, attempts;
byte expiries, crashes, lost, rejections, hung, aborts;
#define FAULTS (expiries + crashes + lost)

inline clear(q) {
  q.state = NONE; q.tok = 0; q.ver = 0; q.pass = 0; q.park = 0; q.unpark = 0; q.half = false
}

inline accept(m) {
  MUST(committed & BIT(m), "BROKEN: P2, a message of no committed transaction is in the broker\n")
  if
  :: inlog & BIT(m) ->
    dups++;
    MUST(dups <= INFLIGHT * FAULTS, "BROKEN: P4, more repeats than windows of the faults there were\n")
  :: else ->
    MUST((committed & BEFORE(m) & ~inlog) == 0, "BROKEN: P3, accepted before an earlier one of its key\n");
    inlog = inlog | BIT(m)
  fi
}

#define P1 ((passed & ~(inlog | parked)) == 0)        /* what is passed is in the broker, or parked */

#if defined(M_SETTLE_WITHOUT_TOKEN)
#define MATCHES(q) true
#elif defined(M_SETTLE_WITHOUT_VERSION)
#define MATCHES(q) (q.tok == token)
#else
#define MATCHES(q) (q.tok == token && q.ver == version)
#endif

/* What the store does with a settlement, in one transaction. */
inline apply(q) {
#ifdef M_SETTLE_IN_TWO
  if
  :: q.half -> parked = (parked | q.park) & ~q.unpark; q.half = false; q.state = APPLIED
  :: !q.half && MATCHES(q) -> passed = q.pass; version++; q.half = true; q.state = UNDERWAY
#else
  if
  :: MATCHES(q) ->
    MUST((passed & ~q.pass) == 0, "BROKEN: one settlement a token and version, the position goes back\n");
    passed = q.pass;
    parked = (parked | q.park) & ~q.unpark;
    version++;
    q.state = APPLIED;
    MUST(P1, "BROKEN: P1, passed, and neither in the broker nor parked\n")
#endif
  :: else ->
    if
    :: q.tok == token && version == q.ver + 1 -> q.state = APPLIED   /* the repeat of one that was applied */
    :: else -> q.state = REFUSED
    fi
  fi
}

proctype Producer(byte m) {
  /* Transactions that write one key are ordered: each begins after the last one ended. */
  atomic { (BEFORE(m) & ~(committed | aborted)) == 0;
    if
    :: committed = committed | BIT(m); printf("producer: message %d commits\n", m)
    :: aborts < ABORTS -> aborts++; aborted = aborted | BIT(m); printf("producer: message %d is rolled back\n", m)
    fi
  }
}

proctype Broker() {
  byte r, m;
end:
  do
  :: atomic { net[0] | net[1] ->
      if :: net[0] -> r = 0 :: net[1] -> r = 1 fi;
      PICK(m, net[r]);
      net[r] = net[r] & ~BIT(m);
      if
      :: printf("broker: accepts %d from relay %d\n", m, r); acc[r] = acc[r] | BIT(m); accept(m)
      :: rejections < REJECTS -> printf("broker: rejects %d from relay %d\n", m, r); rejections++; rej[r] = rej[r] | BIT(m)
      :: lost < LOST -> printf("broker: accepts %d from relay %d, and the answer is lost\n", m, r);
        lost++; unk[r] = unk[r] | BIT(m); accept(m)
      :: lost < LOST -> printf("network: %d from relay %d is delayed beyond the call's end\n", m, r);
        lost++; unk[r] = unk[r] | BIT(m); adrift = adrift | BIT(m)
      fi;
      r = 0; m = 0
    }
  :: atomic { adrift ->
      PICK(m, adrift);
      adrift = adrift & ~BIT(m);
      if
      :: printf("broker: accepts a late copy of %d\n", m); accept(m)
      :: printf("network: a copy of %d is gone\n", m)
      fi;
      m = 0
    }
  od
}

proctype Store() {
end:
  do
  :: atomic { rq[0].state == UNDERWAY -> printf("store: relay 0 settles, position to %x\n", rq[0].pass); apply(rq[0]) }
  :: atomic { rq[1].state == UNDERWAY -> printf("store: relay 1 settles, position to %x\n", rq[1].pass); apply(rq[1]) }
  :: atomic { ghost.state == UNDERWAY -> printf("store: a settlement that was given up arrives, position to %x\n", ghost.pass); apply(ghost); clear(ghost) }
  :: atomic { holder && valid && expiries < EXPIRIES -> printf("store: the lease of relay %d is over\n", holder - 1);
      valid = false; expiries++ }
  od
}

/* What a relay loses when it loses the lease, or its life. What it sent stays on its way. */
inline forget() {
  own = false; tok = 0; ver = 0; pass = 0; lot = 0; shot = 0; win = 0; done = 0; stop = 0; sent = 0; free = 0;
  adrift = adrift | net[r];
  net[r] = 0; acc[r] = 0; rej[r] = 0; unk[r] = 0
}

/* A settlement that nobody waits for may still arrive. */
inline abandon() {
  if
  :: rq[r].state == UNDERWAY && ghost.state == NONE ->
    if
    :: ghost.state = UNDERWAY; ghost.tok = rq[r].tok; ghost.ver = rq[r].ver; ghost.pass = rq[r].pass;
      ghost.park = rq[r].park; ghost.unpark = rq[r].unpark
    :: !rq[r].half
    fi
  :: else
  fi
}

/* The longest resolved prefix of the window moves the position. */
inline prefix() {
  to = pass; m = 0;
  do
  :: m == N -> break
  :: m < N && (win & BIT(m)) && !((done | stop) & BIT(m)) ->
#ifdef M_POSITION_BEYOND_UNRESOLVED
    if
    :: (done | stop) & ~(BIT(m) - 1) -> to = to | BIT(m); m++
    :: else -> break
    fi
#else
    break
#endif
  :: else -> to = to | (win & BIT(m)); m++
  od;
#ifdef M_CURSOR_PAST_UNFETCHED_PAGE
  if :: (to | win) == to -> to = to | shot :: else fi;
#endif
  m = 0
}

#ifdef M_POSITION_BEYOND_UNRESOLVED
#define RESOLVED win
#else
#define RESOLVED (win & (256 - win)) /* the first of the window */
#endif

#ifdef M_KEY_BLOCKED_NO_MORE_AFTER_TAKEOVER
#define STOPS ((lot & ~forgot) | stop)
#else
#define STOPS (lot | stop)
#endif
#if defined(M_PARKED_AND_GONE_ON)
#define BLOCKED(m) false
#else
#define BLOCKED(m) ((STOPS & KEYOF(m)) != 0)
#endif
#if defined(M_NEXT_SENT_BEFORE_ANSWER)
#define FIRST(m) true
#else
#define FIRST(m) ((BEFORE(m) & win & ~done) == 0)
#endif
#define FRESH (win & ~(done | stop | sent))
#define ROOM (COUNT(sent | done | free) < INFLIGHT)
#define SENDABLE(m) ((FRESH & BIT(m)) && !BLOCKED(m) && FIRST(m))
#if defined(M_PARKED_NEVER_TRIED)
#define TRIABLE(m) false
#else
#define TRIABLE(m) ((lot & ~(free | sent) & BIT(m)) && (BEFORE(m) & lot & ~free) == 0)
#endif
#define BEHIND(m) ((FRESH & BIT(m)) && BLOCKED(m))
#define ANY(P) (P(0) || P(1) || P(2) || (N > 3 && P(3)))
#define CHOOSE(m,P) if :: P(0) -> m = 0 :: P(1) -> m = 1 :: P(2) -> m = 2 :: N > 3 && P(3) -> m = 3 fi

#ifdef M_LEASE_BY_WALL_CLOCK
bool ahead;               /* one relay's clock is ahead, once */
#endif
#if defined(M_LEASE_NEVER_TAKEN_OVER)
#define TAKEABLE (holder == 0)
#elif defined(M_LEASE_BY_WALL_CLOCK)
#define TAKEABLE (holder == 0 || !valid || (holder != r + 1 && !ahead))
#else
#define TAKEABLE (holder == 0 || !valid)
#endif

proctype Relay(byte r) {
  bool own;
  byte tok, ver;
  byte pass, lot;     /* the position and the parking lot, as far as settled */
  byte shot;          /* the snapshot that is being read */
  byte win;           /* read, and not passed */
  byte done, stop;    /* of the window: accepted; to be parked */
  byte sent;          /* being sent, from the window or the parking lot */
  byte free;          /* parked ones that were accepted */
#ifdef M_KEY_BLOCKED_NO_MORE_AFTER_TAKEOVER
  byte forgot;        /* what was parked before it took the lease */
#endif
  byte m, to;
end:
  do
  :: atomic { !own && TAKEABLE && (token > 0 || r == 0) ->  /* the relays are alike: 0 is the one that begins */
#ifdef M_LEASE_BY_WALL_CLOCK
      if :: holder != 0 && valid -> ahead = true :: else fi;
#endif
      token++; holder = r + 1; valid = true;
      own = true; tok = token; ver = version; pass = passed; lot = parked;
#ifdef M_KEY_BLOCKED_NO_MORE_AFTER_TAKEOVER
      forgot = parked;
#endif
      printf("relay %d: takes the lease, token %d, position %x, parked %x\n", r, tok, pass, lot) }

  /* Reading. A snapshot is read to its end, in seq order, a page at a time. */
  :: atomic { own && win == 0 && (shot & ~pass) == 0 && (committed & ~pass) != 0 ->
#ifdef M_READS_UNCOMMITTED
      shot = ALL & ~aborted;
#else
      shot = committed;
#endif
      printf("relay %d: sees the snapshot %x\n", r, shot) }
  :: atomic { own && COUNT(win) < PAGE && (shot & ~(pass | win)) != 0 ->
      to = shot & ~(pass | win);
      if
      :: to & 1 -> m = 0
      :: !(to & 1) && (to & 2) -> m = 1
      :: !(to & 3) && (to & 4) -> m = 2
      :: !(to & 7) && (to & 8) -> m = 3
      fi;
      win = win | BIT(m);
      printf("relay %d: reads %d\n", r, m);
      m = 0; to = 0 }

  /* Sending: a message only after the one before it in its key is known to be in the broker. */
  :: atomic { own && ROOM && ANY(SENDABLE) ->
      CHOOSE(m, SENDABLE);
      net[r] = net[r] | BIT(m); sent = sent | BIT(m);
#ifdef M_DONE_BEFORE_SENT
      done = done | BIT(m);
#endif
      printf("relay %d: sends %d\n", r, m);
      m = 0 }
  :: atomic { own && ROOM && ANY(TRIABLE) ->
      CHOOSE(m, TRIABLE);
      net[r] = net[r] | BIT(m); sent = sent | BIT(m);
#ifdef M_PARKED_ROW_DELETED_BEFORE_DELIVERY
      free = free | BIT(m);
#endif
      printf("relay %d: sends %d, which is parked\n", r, m);
      m = 0 }
  :: atomic { own && ANY(BEHIND) ->
      CHOOSE(m, BEHIND);
#ifdef M_WAITING_ROW_NOT_PARKED
      done = done | BIT(m);
#else
      stop = stop | BIT(m);
#endif
      printf("relay %d: %d waits behind a parked one of its key\n", r, m);
      m = 0 }

  /* Answers. */
  :: atomic { own && acc[r] ->
      done = done | (acc[r] & win); free = free | (acc[r] & lot);
#ifdef M_KEY_FREED_BY_FIRST_ACCEPTED
      if :: acc[r] & lot & KEYA -> lot = lot & ~(KEYA & ~acc[r]) :: else fi;
#endif
      sent = sent & ~acc[r]; acc[r] = 0 }
  :: atomic { own && rej[r] ->
      attempts++; stop = stop | (rej[r] & win); sent = sent & ~rej[r]; rej[r] = 0;
      MUST(attempts <= rejections, "BROKEN: an attempt is counted that the broker did not reject\n") }
  :: atomic { own && unk[r] ->
#if defined(M_UNKNOWN_AS_DONE)
      done = done | (unk[r] & win); free = free | (unk[r] & lot);
      sent = sent & ~unk[r];
#elif defined(M_UNKNOWN_AS_FAILED)
      attempts++; stop = stop | (unk[r] & win); sent = sent & ~unk[r];
      MUST(attempts <= rejections, "BROKEN: an attempt is counted that the broker did not reject\n");
#elif defined(M_UNKNOWN_NEVER_SENT_AGAIN)
#else
      sent = sent & ~unk[r];
#endif
      unk[r] = 0 }

  /* Settling. */
  :: atomic { own && rq[r].state == NONE && (free || (RESOLVED & (done | stop))) ->
      prefix();
      rq[r].state = UNDERWAY; rq[r].tok = tok; rq[r].ver = ver; rq[r].pass = to;
      rq[r].park = stop & to; rq[r].unpark = free;
      to = 0 }
  :: atomic { own && rq[r].state == UNDERWAY && ghost.state == NONE && hung < HUNG && !rq[r].half ->
      hung++; abandon();
      printf("relay %d: its settlement hangs, and is repeated\n", r) }
#ifdef M_REFUSED_TAKEN_AS_APPLIED
  :: atomic { own && rq[r].state >= APPLIED ->
#else
  :: atomic { own && rq[r].state == REFUSED ->
      printf("relay %d: learns that its lease is lost\n", r);
      clear(rq[r]); forget() }
  :: atomic { own && rq[r].state == APPLIED ->
#endif
      pass = rq[r].pass; ver = rq[r].ver + 1;
      win = win & ~pass; done = done & ~pass; stop = stop & ~pass;
      lot = (lot | rq[r].park) & ~rq[r].unpark; free = free & ~rq[r].unpark;
      clear(rq[r]) }

  /* What goes wrong. */
  :: atomic { own && tok != token ->
      printf("relay %d: its heartbeat says that its lease is lost\n", r);
      abandon(); clear(rq[r]); forget() }
  :: atomic { own && crashes < CRASHES ->
      printf("relay %d: crashes\n", r);
      crashes++;
      abandon(); clear(rq[r]); forget();
      if :: holder == r + 1 -> valid = false :: else fi;
      MUST(P1 || ghost.half, "BROKEN: P1, passed, and neither in the broker nor parked\n") }
  od
}

init {
  atomic {
    run Producer(0); run Producer(1); run Producer(2);
#if N > 3
    run Producer(3);
#endif
    run Store(); run Broker(); run Relay(0); run Relay(1)
  }
}

/* Whatever happens, once the faults are used up all that committed is in the
   broker, is passed, and nothing is left in the parking lot. */
#define DELIVERED ((committed | aborted) == ALL && inlog == committed && passed == committed && parked == 0)
#ifdef LIVENESS
active proctype Time() { bit tick; do :: tick = 1 - tick od } /* goes on when nothing else does */
ltl live { <> [] DELIVERED }
#endif
