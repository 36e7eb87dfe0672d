/*
 * What supersedes what (record 085): a rejected message waits in a row while newer
 * ones of its key go on, and ends in the settlement of a newer one that was accepted.
 *
 * All messages are of one key, message m+1 is newer than m, and each transaction has
 * one. Sets of messages are bit masks: message m is bit 1<<m. So of two sets without a
 * common message, the one with the newest is the greater number. A macro M_... compiles
 * one mutant of the protocol in. README.md has the bounds and the mutants.
 */

#ifndef N
#define N 3          /* messages */
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
#define REJECTS 2    /* calls that the broker answers with no */
#endif
#ifndef HUNG
#define HUNG 1       /* settlements that the relay repeats, and whose first copy arrives late */
#endif

#define ALL ((1<<N)-1)
#define BIT(m) (1<<(m))
#define LOWEST(x) ((x) & (256 - (x)))
#define HIGHEST(x) (((x)&8) -> 8 : (((x)&4) -> 4 : (((x)&2) -> 2 : ((x)&1))))
#define OLDER(b) ((b) - 1)        /* than the message of the bit b */
#define NEWER(b) (ALL & ~((b) | OLDER(b)))
#define NUMBER(b) ((b) == 8 -> 3 : (b) >> 1)
#define PICK(b,x) if :: (x)&1 -> b = 1 :: (x)&2 -> b = 2 :: (x)&4 -> b = 4 :: (x)&8 -> b = 8 fi

/* A promise: when it is broken the trace ends with these words. */
#define MUST(c, words) if :: (c) :: else -> printf(words); assert(c) fi

/* The producers' truth: they commit one after the other. */
byte committed;

/* The store. */
byte passed;              /* the position */
byte waits;               /* rows of rejected messages, which block nothing */
byte blocks;              /* rows that block the key: one that is being tried, and what came behind it */
byte delivered, gone;     /* the ledger: fates that settlements gave */
byte token, version;      /* grows at each change of hands; at each settlement */
byte holder;              /* relay + 1 */
bool valid;               /* the holder's lease, by the store's clock */

/* Settlements on their way to the store: one a relay, and one that was given up. */
#define NONE 0
#define UNDERWAY 1
#define APPLIED 2
#define REFUSED 3
typedef settlement { byte state, tok, ver, pass, wait, block, claim, back, free, newest; bool half }
settlement rq[2], ghost;

/* The network and the broker. */
byte net[2];              /* sent by a relay, not yet with the broker */
byte adrift;              /* copies whose sender gave up or died */
byte acc[2], rej[2], unk[2]; /* answers: accepted, rejected, none */
byte inlog;               /* what the broker has */

/* For the properties and the bounds only. */
byte hands[2];            /* what a relay that believes to have the lease may send */
byte refused;             /* messages that were rejected once */
byte echo;                /* of which one call was rejected while another could come: the destination said both */
byte expiries, crashes, lost, rejections, hung;

inline clear(q) {
  q.state = NONE; q.tok = 0; q.ver = 0; q.pass = 0; q.wait = 0; q.block = 0; q.claim = 0; q.back = 0; q.free = 0; q.newest = 0; q.half = false
}

inline accept(b) {
  if
  :: inlog & b
  :: else ->
    MUST((echo & b) || !(gone & b), "BROKEN: two fates, superseded and delivered after that\n");
    MUST((echo & b) || (inlog & NEWER(b)) == 0, "BROKEN: P3, accepted behind a newer one of its key\n");
    MUST((committed & OLDER(b) & ~(inlog | refused)) == 0, "BROKEN: P3, accepted before an earlier one that was not rejected\n");
    inlog = inlog | b
  fi
}

#if defined(M_SUPERSEDE_SETTLED_WITHOUT_TOKEN)
#define MATCHES(q) true
#elif defined(M_SUPERSEDE_SETTLED_WITHOUT_VERSION)
#define MATCHES(q) (q.tok == token)
#else
#define MATCHES(q) (q.tok == token && q.ver == version)
#endif

/* The rows that a settlement ends: those that wait and are older than what was accepted. */
inline supersede(q) {
  ended = 0;
  if :: q.newest -> ended = waits & OLDER(q.newest) :: else fi;
  MUST(ended == 0 || (inlog & ~ended) > ended, "BROKEN: superseded, and no newer one of its key was delivered\n");
  MUST((ended & (delivered | gone)) == 0, "BROKEN: two fates, of which the second is superseded\n");
  gone = gone | ended; waits = waits & ~ended; ended = 0
}

/* The rows that the first parts of a settlement end, each in a transaction of its own: the oldest one. What the
   settlement writes itself stays. A part moves neither position nor version. */
#define PART(q) (q.newest -> LOWEST(waits & OLDER(q.newest) & ~q.claim) : 0)
inline part(q) {
  ended = PART(q);
  MUST((inlog & ~ended) > ended, "BROKEN: superseded, and no newer one of its key was delivered\n");
  MUST((ended & (delivered | gone)) == 0, "BROKEN: two fates, of which the second is superseded\n");
  gone = gone | ended; waits = waits & ~ended; ended = 0
}

/* What the store does with a settlement, in one transaction. */
inline apply(q) {
  if
#ifdef M_SUPERSEDED_IN_A_STEP_OF_ITS_OWN
  :: q.half -> supersede(q); q.half = false; q.state = APPLIED
  :: !q.half && MATCHES(q) ->
#else
  :: MATCHES(q) ->
#endif
    ended = (q.pass & ~passed & ~(q.wait | q.block)) | q.free;
    MUST((ended & ~inlog) == 0, "BROKEN: P1, passed, and neither in the broker nor parked\n");
    MUST((ended & (delivered | gone)) == 0, "BROKEN: two fates, of which the second is delivered\n");
    MUST((passed & ~q.pass) == 0, "BROKEN: one settlement a token and version, the position goes back\n");
    delivered = delivered | ended; ended = 0;
    passed = q.pass;
    waits = (waits | q.wait | q.back) & ~(q.claim | q.free);
    blocks = (blocks | q.block | q.claim) & ~(q.back | q.free);
    version++;
#ifdef M_SUPERSEDED_IN_A_STEP_OF_ITS_OWN
    q.half = true
#else
    supersede(q);
    q.state = APPLIED
#endif
  :: else ->
    if
    :: q.tok == token && version == q.ver + 1 -> q.state = APPLIED   /* the repeat of one that was applied */
    :: else -> q.state = REFUSED
    fi
  fi
}

active proctype Producer() {
end:
  do
  :: atomic { committed != ALL -> committed = (committed << 1) | 1; printf("producer: messages %x are committed\n", committed) }
  od
}

active proctype Broker() {
  byte r, b;
end:
  do
  :: atomic { net[0] | net[1] ->
      if :: net[0] -> r = 0 :: net[1] -> r = 1 fi;
      PICK(b, net[r]);
      net[r] = net[r] & ~b;
      if
      :: printf("broker: accepts %d from relay %d\n", NUMBER(b), r); acc[r] = acc[r] | b; accept(b)
      :: rejections < REJECTS -> printf("broker: rejects %d from relay %d\n", NUMBER(b), r); rejections++; rej[r] = rej[r] | b;
        refused = refused | b;
        if :: (net[1-r] | adrift | hands[1-r]) & b -> echo = echo | b :: else fi
      :: lost < LOST -> printf("broker: accepts %d from relay %d, and the answer is lost\n", NUMBER(b), r);
        lost++; unk[r] = unk[r] | b; accept(b)
      :: lost < LOST -> printf("network: %d from relay %d is delayed beyond the call's end\n", NUMBER(b), r);
        lost++; unk[r] = unk[r] | b; adrift = adrift | b
      fi;
      r = 0; b = 0
    }
  :: atomic { adrift ->
      PICK(b, adrift);
      adrift = adrift & ~b;
      if
      :: printf("broker: accepts a late copy of %d\n", NUMBER(b)); accept(b)
      :: printf("network: a copy of %d is gone\n", NUMBER(b))
      fi;
      b = 0
    }
  od
}

active proctype Store() {
  byte ended;
end:
  do
  :: atomic { rq[0].state == UNDERWAY -> printf("store: relay 0 settles, position to %x\n", rq[0].pass); apply(rq[0]) }
  :: atomic { rq[1].state == UNDERWAY -> printf("store: relay 1 settles, position to %x\n", rq[1].pass); apply(rq[1]) }
  :: atomic { ghost.state == UNDERWAY -> printf("store: a settlement that was given up arrives, position to %x\n", ghost.pass); apply(ghost); clear(ghost) }
  :: atomic { rq[0].state == UNDERWAY && MATCHES(rq[0]) && !rq[0].half && PART(rq[0]) -> printf("store: relay 0 settles, a part\n"); part(rq[0]) }
  :: atomic { rq[1].state == UNDERWAY && MATCHES(rq[1]) && !rq[1].half && PART(rq[1]) -> printf("store: relay 1 settles, a part\n"); part(rq[1]) }
  :: atomic { ghost.state == UNDERWAY && MATCHES(ghost) && PART(ghost) -> printf("store: a settlement that was given up arrives, a part\n"); part(ghost) }
  :: atomic { holder && valid && expiries < EXPIRIES -> printf("store: the lease of relay %d is over\n", holder - 1);
      valid = false; expiries++ }
  od
}

/* What a relay loses when it loses the lease, or its life. What it sent stays on its way. */
inline forget() {
  own = false; tok = 0; ver = 0; pass = 0; wait = 0; block = 0; win = 0; done = 0; no = 0; stop = 0; sent = 0; free = 0; back = 0; claim = 0; all = false;
  adrift = adrift | net[r]; hands[r] = 0;
  net[r] = 0; acc[r] = 0; rej[r] = 0; unk[r] = 0
}

/* A settlement that nobody waits for may still arrive. */
inline abandon() {
  if
  :: rq[r].state == UNDERWAY && ghost.state == NONE && !rq[r].half ->
    if
    :: ghost.state = UNDERWAY; ghost.tok = rq[r].tok; ghost.ver = rq[r].ver; ghost.pass = rq[r].pass; ghost.wait = rq[r].wait;
      ghost.block = rq[r].block; ghost.claim = rq[r].claim; ghost.back = rq[r].back; ghost.free = rq[r].free; ghost.newest = rq[r].newest
    :: skip
    fi
  :: else
  fi
}

/* The longest answered prefix of the window moves the position. */
inline prefix() {
  to = win & ~(done | no | stop);
  if
  :: to -> to = pass | (win & OLDER(LOWEST(to)))
  :: else -> to = pass | win
  fi
}

#define FRESH (win & ~(done | no | stop | sent))
/* A message is sent after the answer to the one before it. */
#define NEXT LOWEST(FRESH)
#ifdef M_KEY_GOES_ON_BEFORE_THE_REJECTION_IS_SETTLED
#define SETTLED true
#else
#define SETTLED (no == 0 && back == 0)
#endif
#define SENDABLE (FRESH && sent == 0 && (block | stop | claim) == 0 && SETTLED)
#define BEHIND (FRESH && (block | stop))
/* Of the rows that block, the oldest is tried. */
#define ROW LOWEST(block & ~free)
#define TRIABLE ((block & ~free) && sent == 0 && back == 0)
/* Of the rows that wait, the newest is claimed, and it blocks before it is tried. */
#ifdef M_OLDEST_IS_TRIED
#define CLAIMED LOWEST(wait)
#else
#define CLAIMED HIGHEST(wait)
#endif
#ifdef M_CLAIMED_WHILE_SOMETHING_NEWER_IS_IN_HAND
#define ALONE true
#else
#define ALONE (win == 0)
#endif
#ifdef M_TRIED_BEFORE_THE_LOG_IS_READ
#define READ true
#else
#define READ all
#endif
#ifdef M_WAITING_NEVER_TRIED
#define CLAIMABLE false
#else
#define CLAIMABLE (wait && ALONE && READ && (block | stop | claim | no | sent) == 0 && rq[r].state == NONE)
#endif
/* Which accepted message a settlement names: none if no row of the key is known. */
#ifdef M_ROWS_FORGOTTEN_AT_A_TAKEOVER
#define KNOWN (wait & ~old)
#else
#define KNOWN wait
#endif
#ifdef M_SUPERSEDED_BY_WHAT_IS_SENT
#define NEWEST HIGHEST((done & to) | free | sent)
#else
#define NEWEST HIGHEST((done & to) | free)
#endif
#define URGENT (free | back | claim | (LOWEST(win) & (done | no | stop)))

proctype Relay(byte r) {
  bool own;
  byte tok, ver;
  byte pass;          /* the position, */
  byte wait, block;   /* and the rows, as far as settled */
  byte win;           /* read, and not passed */
  byte done, no, stop; /* of the window: accepted; rejected; to be parked behind a row that blocks */
  byte sent;          /* being sent, from the window or a row */
  byte free, back;    /* rows that block and were accepted; that were rejected, and wait again */
  byte claim;         /* a row that waits and is to block */
  bool all;           /* the log was read to its end since the lease came */
  byte to;
#ifdef M_ROWS_FORGOTTEN_AT_A_TAKEOVER
  byte old;
#endif
end:
  do
  :: atomic { !own && (holder == 0 || !valid) && (token > 0 || r == 0) ->
      token++; holder = r + 1; valid = true;
      own = true; tok = token; ver = version; pass = passed; wait = waits; block = blocks; hands[r] = waits | blocks;
#ifdef M_ROWS_FORGOTTEN_AT_A_TAKEOVER
      old = waits;
#endif
      printf("relay %d: takes the lease, token %d, position %x, rows that wait %x, that block %x\n", r, tok, pass, wait, block) }

  /* Reading. By its own clock a relay's lease ends before another one takes it: it does not read after that. */
  :: atomic { own && tok == token && (committed & ~(pass | win)) ->
      to = LOWEST(committed & ~(pass | win)); win = win | to; hands[r] = hands[r] | to;
      printf("relay %d: reads %d\n", r, NUMBER(to)); to = 0 }
  :: atomic { own && tok == token && !all && (committed & ~(pass | win)) == 0 ->
      all = true; printf("relay %d: has read the log to its end\n", r) }

  /* Sending. */
  :: atomic { own && SENDABLE ->
      to = NEXT; net[r] = net[r] | to; sent = sent | to;
      printf("relay %d: sends %d\n", r, NUMBER(to)); to = 0 }
  :: atomic { own && BEHIND ->
      to = NEXT; stop = stop | to;
      printf("relay %d: %d waits behind a row that blocks\n", r, NUMBER(to)); to = 0 }
  :: atomic { own && CLAIMABLE ->
      claim = CLAIMED;
      printf("relay %d: claims %d\n", r, NUMBER(claim));
#ifdef M_TRIED_WITHOUT_A_CLAIM
      net[r] = net[r] | claim; sent = sent | claim; claim = 0
#endif
      }
  :: atomic { own && TRIABLE ->
      to = ROW; net[r] = net[r] | to; sent = sent | to;
      printf("relay %d: sends %d, which blocks\n", r, NUMBER(to)); to = 0 }

  /* Answers. */
  :: atomic { own && acc[r] ->
      done = done | (acc[r] & win); free = free | (acc[r] & (block | wait));
      sent = sent & ~acc[r]; acc[r] = 0 }
  :: atomic { own && rej[r] ->
      no = no | (rej[r] & win); back = back | (rej[r] & block); sent = sent & ~rej[r]; rej[r] = 0 }
  :: atomic { own && unk[r] -> sent = sent & ~unk[r]; unk[r] = 0 }

  /* Settling. */
  :: atomic { own && rq[r].state == NONE && URGENT ->
      prefix();
      rq[r].state = UNDERWAY; rq[r].tok = tok; rq[r].ver = ver; rq[r].pass = to;
      rq[r].wait = no & to; rq[r].block = stop & to; rq[r].claim = claim; rq[r].back = back; rq[r].free = free;
      if :: KNOWN -> rq[r].newest = NEWEST :: else fi;
      to = 0 }
  :: atomic { own && rq[r].state == UNDERWAY && ghost.state == NONE && hung < HUNG && !rq[r].half ->
      hung++; abandon();
      printf("relay %d: its settlement hangs, and is repeated\n", r) }
  :: atomic { own && rq[r].state == REFUSED ->
      printf("relay %d: learns that its lease is lost\n", r);
      clear(rq[r]); forget() }
  :: atomic { own && rq[r].state == APPLIED ->
      pass = rq[r].pass; ver = rq[r].ver + 1;
      wait = (wait | rq[r].wait | rq[r].back) & ~(rq[r].claim | rq[r].free);
      block = (block | rq[r].block | rq[r].claim) & ~(rq[r].back | rq[r].free);
      if :: rq[r].newest -> wait = wait & ~OLDER(rq[r].newest) :: else fi;
      win = win & ~pass; done = done & ~pass; no = no & ~pass; stop = stop & ~pass;
      free = free & ~rq[r].free; back = back & ~rq[r].back; claim = claim & ~rq[r].claim;
      hands[r] = win | wait | block;
      clear(rq[r]) }

  /* What goes wrong. */
  :: atomic { own && tok != token ->
      printf("relay %d: its heartbeat says that its lease is lost\n", r);
      abandon(); clear(rq[r]); forget() }
  :: atomic { own && crashes < CRASHES ->
      printf("relay %d: crashes\n", r);
      crashes++;
      abandon(); clear(rq[r]); forget();
      if :: holder == r + 1 -> valid = false :: else fi }
  od
}

init { atomic { run Relay(0); run Relay(1) } }

/* Whatever happens, once the faults are used up each message has ended, and no row is left. */
#define ENDED (committed == ALL && passed == ALL && waits == 0 && blocks == 0 && (delivered | gone) == ALL)
#ifdef LIVENESS
active proctype Time() { bit tick; do :: tick = 1 - tick od } /* goes on when nothing else does */
ltl live { <> [] ENDED }
#endif
