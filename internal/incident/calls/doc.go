// Package calls finds the calls of drivers in the messages of logs. The request, answer and error
// of a call are in separate lines. They are matched by an id, by their pairs, or by order.
package calls
