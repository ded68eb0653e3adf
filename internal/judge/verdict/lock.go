package verdict

// Locks is the key of a lock that outlives its call.
const Locks Key = "locks"

var locks = &Invariant{
	Name:   Locks,
	Holds:  "a lock ends with its call: ABORTED is answered while another call for the volume is under way, and clears",
	Reason: "callers repeat for ever, and only a restart of the driver helps",
	Rules:  []string{"CSI spec: Error Scheme, ABORTED"},
	Blame:  Driver,
	Rank:   Breach,
}
