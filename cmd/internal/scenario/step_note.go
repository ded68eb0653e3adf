package scenario

func init() {
	register("note", "Writes a line into the trace and the report.", `note: from here on the driver is down`, noteStep(""))
}

// noteStep is a text for the reader.
type noteStep string

func (s noteStep) check(c *checker) {
	if s == "" {
		c.report("", "an empty note", "a text")
	}
}

func (s noteStep) do(r *runner) error {
	r.say(string(s)) // the trace contains it as the step's title
	return nil
}
