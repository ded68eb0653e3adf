package verdict

// Answers is the key of the invariant in this file.
const Answers Key = "answers"

var answers = &Invariant{
	Name:   Answers,
	Holds:  "answers have the fields and error codes that the CSI spec asks for, and nothing beyond the capabilities; a call that the spec requires is not refused for good",
	Reason: "callers act on codes: one that is wrong makes them give up, or repeat for ever",
	Rules:  []string{"CSI spec: each call's section and errors"},
	Blame:  Driver,
	Rank:   Breach,
}
