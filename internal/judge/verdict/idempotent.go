package verdict

// Idempotent is the key of the invariant in this file.
const Idempotent Key = "idempotent"

var idempotent = &Invariant{
	Name:   Idempotent,
	Holds:  "a call that is repeated has no further effect and is answered the same",
	Reason: "callers repeat a call whenever they have not heard its answer: a driver that does it twice leaks, one that refuses it never ends",
	Rules:  []string{"CSI spec: RPC interactions, Idempotency"},
	Blame:  Driver,
	Rank:   Breach,
}
