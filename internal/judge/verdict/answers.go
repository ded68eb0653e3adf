package verdict

// Answers is the key of the invariant in this file.
const Answers Key = "answers"

var answers = &Invariant{
	Name:   Answers,
	Holds:  "answers have what the CSI spec wants, with its error codes, and nothing that was not promised; what the spec wants to be done is not refused for good",
	Reason: "callers act on codes: one that is wrong makes them give up, or repeat for ever",
	Rules:  []string{"CSI spec: each call's section and errors"},
	Blame:  Driver,
	Rank:   Breach,
}
