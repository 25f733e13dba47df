"""A tiny publication log and its subscriptions."""

LOG = "publisher,time,x\na,0,1\nb,5,3\nb,6,9\nc,10,3\n"
SUBSCRIPTIONS = "user,subscription,attribute,low,high\na,1,x,2,4\nb,1,x,0,2\nb,2,x,3,10\n"
