package calls

import "time"

// Call is a call that a log shows.
type Call struct {
	// Method is the RPC, such as "Controller/CreateVolume".
	Method string
	// Begin and End are the times of its first and last line; End is zero without an answer.
	Begin, End time.Time
	// Request and Answer have the format of traces. They are nil if the log does not contain them.
	Request, Answer map[string]any
	// Code and Error describe an unsuccessful answer.
	Code, Error string
	// IsAnswered reports that the log shows the end of the call.
	IsAnswered bool
	// Uncertain gives the reason why lines may belong to another call; empty if they certainly
	// belong together.
	Uncertain string
	// Lines are the numbers of the lines in the file, and Texts their shortened texts.
	Lines []int
	Texts []string

	method      *method
	id          string
	context     string
	isOfKubelet bool
	// isPlanned reports that the kubelet may not make the call.
	isPlanned bool
	// endpoint and channel identify the kubelet's connection for the call. gone is the time at
	// which the connection was closed.
	endpoint, channel string
	gone              time.Time
}

// longestText is the number of bytes that a call keeps of a line.
const longestText = 600

func (c *Call) line(number int, text string) {
	if len(text) > longestText {
		text = text[:longestText] + "…"
	}
	c.Lines, c.Texts = append(c.Lines, number), append(c.Texts, text)
}
