from .olh import OLH as OLH
from .wheel import Wheel as Wheel
