package wire

// The statuses that berth speaks of (RFC 9110, 15; RFC 6585).
const (
	StatusOK                          = 200
	StatusAccepted                    = 202
	StatusNoContent                   = 204
	StatusBadRequest                  = 400
	StatusUnauthorized                = 401
	StatusForbidden                   = 403
	StatusNotFound                    = 404
	StatusMethodNotAllowed            = 405
	StatusNotAcceptable               = 406
	StatusRequestTimeout              = 408
	StatusConflict                    = 409
	StatusRequestEntityTooLarge       = 413
	StatusUnsupportedMediaType        = 415
	StatusUnprocessableEntity         = 422
	StatusTooManyRequests             = 429
	StatusRequestHeaderFieldsTooLarge = 431
	StatusInternalServerError         = 500
	StatusNotImplemented              = 501
	StatusBadGateway                  = 502
	StatusServiceUnavailable          = 503
	StatusGatewayTimeout              = 504
)

var phrases = map[int]string{
	StatusOK:                          "OK",
	StatusAccepted:                    "Accepted",
	StatusNoContent:                   "No Content",
	StatusBadRequest:                  "Bad Request",
	StatusUnauthorized:                "Unauthorized",
	StatusForbidden:                   "Forbidden",
	StatusNotFound:                    "Not Found",
	StatusMethodNotAllowed:            "Method Not Allowed",
	StatusNotAcceptable:               "Not Acceptable",
	StatusRequestTimeout:              "Request Timeout",
	StatusConflict:                    "Conflict",
	StatusRequestEntityTooLarge:       "Request Entity Too Large",
	StatusUnsupportedMediaType:        "Unsupported Media Type",
	StatusUnprocessableEntity:         "Unprocessable Entity",
	StatusTooManyRequests:             "Too Many Requests",
	StatusRequestHeaderFieldsTooLarge: "Request Header Fields Too Large",
	StatusInternalServerError:         "Internal Server Error",
	StatusNotImplemented:              "Not Implemented",
	StatusBadGateway:                  "Bad Gateway",
	StatusServiceUnavailable:          "Service Unavailable",
	StatusGatewayTimeout:              "Gateway Timeout",
}

// RefusesCredentials reports whether a status says that credentials are not taken.
func RefusesCredentials(status int) bool {
	return status == StatusUnauthorized || status == StatusForbidden
}
