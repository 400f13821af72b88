package exchange

import "net/http"

// Transport is what c sends by.
func (c *Client) Transport() *http.Transport { return c.transport }
