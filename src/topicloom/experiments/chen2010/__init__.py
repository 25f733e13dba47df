"""Divide and conquer: GM-M, DCB-M and DCBR-M [Chen2010]."""
