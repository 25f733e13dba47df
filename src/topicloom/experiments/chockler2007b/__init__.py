"""SpiderCast: degrees, connectivity, views and churn [Chockler2007b]."""
