// Package calls finds the calls of drivers in the messages of logs: request, answer and error of a
// call stand in lines of their own, which belong together by an id, by their pairs, or by order.
package calls
